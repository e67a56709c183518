package storetest

// Scenario is one sentence of the contract.
type Scenario struct {
	Name string // "Method/sentence"
	Run  func(s *Stage)
}
