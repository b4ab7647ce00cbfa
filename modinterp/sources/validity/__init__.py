"""The source `validity`: a public audit of the claim that networks add by circles, answered criterion by criterion."""
