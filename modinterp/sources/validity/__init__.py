"""A public audit of what is known of networks that add by circles, answered criterion by criterion."""
