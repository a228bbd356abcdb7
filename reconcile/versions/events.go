package versions

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/versions/internal/wire"
)

const (
	// longestEvent is how long a version may think about an event: all other events wait meanwhile.
	longestEvent = 2 * time.Second
	// impatient is how long a version that took longer isn't asked any more.
	impatient = 30 * time.Second
)

// patience is about a process that is asked what it makes of events.
type patience struct {
	mu sync.Mutex
	// lost is until when it isn't asked.
	lost time.Time
	// said tells that it was said that it can't tell.
	said bool
}

// counts asks a version whether an event counts. It does where that can't be known: whoever is brought to reconcile sees for itself.
func (l *life) counts(about wire.Happened, event deploy.Event) bool {
	counts := true
	return !l.asks(wire.When, about, event, &counts) || counts
}

// keys asks a version which resources an event concerns, and tells whether it has answered.
func (l *life) keys(about wire.Happened, event deploy.Event) ([]deploy.Ref, bool) {
	var refs []wire.Ref
	if !l.asks(wire.Keys, about, event, &refs) {
		return nil, false
	}
	return wire.KeysIn(refs), true
}

// asks asks a version about an event, and tells whether it has answered. l may be nil: then it hasn't.
func (l *life) asks(method string, about wire.Happened, event deploy.Event, answer any) bool {
	if l == nil || l.patience.isLost() {
		return false
	}
	about.Type, about.New = string(event.Type), event.New.Object
	if event.Old != nil {
		about.Old = event.Old.Object
	}
	ctx, cancel := context.WithTimeout(l.pool.ctx, longestEvent)
	defer cancel()
	l.version.count(method)
	err := l.peer.Call(ctx, method, about, answer)
	if err != nil && l.patience.fails(errors.Is(err, context.DeadlineExceeded)) {
		l.pool.options.Logger.Warn("a version can't tell what an event means: it counts", "version", l.version.name, "kind", event.New.GetKind(), "error", err)
	}
	return err == nil
}

func (p *patience) isLost() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return time.Now().Before(p.lost)
}

// fails notes that there was no answer, and tells whether that is to be said: once is enough.
func (p *patience) fails(late bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	first := !p.said
	p.said = true
	if late {
		p.lost = time.Now().Add(impatient)
	}
	return first
}
