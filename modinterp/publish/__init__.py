"""What leaves the house in other people's layouts: repositories of the Hub, and networks whose mechanism is known."""
