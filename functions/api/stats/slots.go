package stats

import "github.com/belfry-dev/belfry/core"

func slotsOf(u core.SlotUse) SlotStats {
	return SlotStats{All: u.Slots, Busy: u.Busy, ForDeliveries: u.DeliverySlots, Deliveries: u.Deliveries}
}
