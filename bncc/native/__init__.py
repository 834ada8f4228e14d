"""C of the trainers' native engines, built for this machine when it is first needed."""
