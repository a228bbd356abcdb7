package tlssecret

import "time"

const (
	// burst is how many writes a process may send at once, and refill is the time after which it may send another one.
	burst  = 10
	refill = 30 * time.Second
)

// pace limits writes, so that two programs that change the Secret back and forth keep nobody busy.
type pace struct {
	left int
	at   time.Time
}

func newPace() pace { return pace{left: burst} }

// take reports whether a write may be sent now.
func (p *pace) take(now time.Time) bool {
	if more := int(now.Sub(p.at) / refill); p.at.IsZero() || p.left+more >= burst {
		p.left, p.at = burst, now
	} else if more > 0 {
		p.left, p.at = p.left+more, p.at.Add(time.Duration(more)*refill)
	}
	if p.left == 0 {
		return false
	}
	p.left--
	return true
}
