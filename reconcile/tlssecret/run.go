package tlssecret

import (
	"context"
	"fmt"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/trigger"
)

const (
	// firstRetry and longestRetry limit the time after which a step that has failed is tried again.
	firstRetry, longestRetry = time.Second, 5 * time.Minute
	// longestWait is how long a change of the clock may stay unnoticed. Looking costs no request.
	longestWait = time.Hour
)

// Run follows the Secret until ctx ends: it serves what others store, renews what is due, and puts in order what was
// damaged or deleted. Each process runs it, without leadership. Settled, it sends nothing. What goes wrong is logged,
// returned by Check, and tried again after a growing time. Run returns nil when ctx has ended.
func (s *Source) Run(ctx context.Context) error {
	synced := make(chan struct{})
	following := make(chan struct{})
	go func() {
		defer close(following)
		s.follow(ctx, synced)
	}()
	defer func() { <-following }()
	get, watched := s.port.Get, false
	for failures := 0; ctx.Err() == nil; {
		select {
		case <-synced:
			get, watched = s.view.Get, true
		default:
		}
		until, err := s.step(ctx, get)
		if err == nil {
			failures = 0
			s.await(ctx, s.pause(until, watched))
			continue
		}
		s.await(ctx, trigger.Delay(firstRetry, longestRetry, failures))
		failures++
	}
	return nil
}

// pause returns the time until the next step.
func (s *Source) pause(until time.Time, watched bool) time.Duration {
	pause := longestWait
	if !watched {
		pause = longestRetry
	}
	if left := until.Sub(s.now()); !until.IsZero() && left < pause {
		pause = max(left+time.Duration(float64(left)*s.late), 0)
	}
	return pause
}

// await returns when the Secret has changed, after a time, or when ctx ends.
func (s *Source) await(ctx context.Context, wait time.Duration) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-s.changes:
	case <-timer.C:
	}
}

// follow watches the Secret until ctx ends.
func (s *Source) follow(ctx context.Context, synced chan<- struct{}) {
	var events deploy.Subscription
	for failures := 0; ctx.Err() == nil; failures++ {
		var err error
		if events == nil {
			events, err = s.view.Subscribe(ctx, secretKind, s.event)
		}
		if err == nil {
			err = events.Synced(ctx)
		}
		if err == nil {
			close(synced)
			s.signal()
			<-ctx.Done()
			return
		}
		if failures == 0 && ctx.Err() == nil {
			s.config.Logger.WarnContext(ctx, "the Secret of a serving certificate can't be watched: changes by others are noticed late", "error", err,
				"grant", fmt.Sprintf("get, list, watch and update of the Secret %s, and create of secrets, in namespace %s", s.ref.Name, s.ref.Namespace))
		}
		trigger.Sleep(ctx, trigger.Delay(firstRetry, longestRetry, failures))
	}
}

// event notices a change of the Secret.
func (s *Source) event(e deploy.Event) {
	if deploy.RefOf(e.New) == s.ref {
		s.signal()
	}
}

func (s *Source) signal() {
	select {
	case s.changes <- struct{}{}:
	default:
	}
}
