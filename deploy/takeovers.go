package deploy

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// A field that was taken from the same manager takeoverLimit times within takeoverWindow is left to
// it: both would go on for ever.
const (
	takeoverLimit  = 3
	takeoverWindow = 10 * time.Minute
)

// takeovers remembers which fields were taken from whom. The zero value is ready for use.
type takeovers struct {
	mu    sync.Mutex
	times map[takeover][]time.Time
}

type takeover struct {
	object  types.UID
	field   string
	manager string
}

// tooOften tells whether a field of an object was taken from its holder so often that it isn't taken
// again. Once it is so it stays so for as long as the Manager lives.
func (t *takeovers) tooOften(object types.UID, c FieldConflict) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	times := t.times[takeover{object, c.Field, c.Manager}]
	return len(times) >= takeoverLimit && times[takeoverLimit-1].Sub(times[0]) <= takeoverWindow
}

// took records that fields of an object were taken.
func (t *takeovers) took(object types.UID, fields []FieldConflict) {
	if len(fields) == 0 {
		return
	}
	now := time.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.times == nil {
		t.times = map[takeover][]time.Time{}
	}
	t.forget(now)
	for _, c := range fields {
		key := takeover{object, c.Field, c.Manager}
		times := append(t.times[key], now)
		t.times[key] = times[max(len(times)-takeoverLimit, 0):]
	}
}

// forget drops what is so long ago that it can't come to the limit any more.
func (t *takeovers) forget(now time.Time) {
	for key, times := range t.times {
		if len(times) < takeoverLimit && now.Sub(times[len(times)-1]) > takeoverWindow {
			delete(t.times, key)
		}
	}
}
