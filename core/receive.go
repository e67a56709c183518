package core

// extend prolongs the visibility timeout of an attempt's message together with its lease.
func (w *Worker) extend(a *attempt) {}

// acknowledge ends a message whose job's end is recorded.
func (w *Worker) acknowledge(d Delivery) {}
