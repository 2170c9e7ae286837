"""One phone call: the tasks and the loop that carries out what the floor decides."""
