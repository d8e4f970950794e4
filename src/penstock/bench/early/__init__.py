"""Which early plan wins: the model beside the measurement."""
