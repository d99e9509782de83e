"""Sample data and its making: what lets a whole workflow be tried without anything of the outside world."""
