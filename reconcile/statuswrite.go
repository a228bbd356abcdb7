package reconcile

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"github.com/operkit/operkit/reconcile/internal/lifecycle"
	"github.com/operkit/operkit/reconcile/internal/memory"
	"github.com/operkit/operkit/status"
)

var (
	errStatusWritten = errors.New("it is set after the status was written: set it earlier, in a hook other than Requeue")
	errNoStatus      = errors.New("the option NoStatus leaves the status alone: leave one of the two out")
)

// writeStatus writes the report into the status, in one write at most, and none when nothing changes. It returns an
// error only if writing again makes sense. Other errors are logged. If the cluster refuses the fields that the
// controller has set, that is an error of the report, which is written without them.
func (r *Reconciler) writeStatus(ctx context.Context, s *Session, rep *report) error {
	err := r.report(ctx, s, *rep)
	if invalid, ok := errors.AsType[*deploy.InvalidError](err); ok && len(rep.values.Paths()) > 0 {
		without := *rep
		without.values = status.Values{}
		without.err = errors.Join(rep.err, mistake(fmt.Errorf("status fields %s: %w", strings.Join(rep.values.Paths(), ", "), invalid)))
		if err = r.report(ctx, s, without); !failure.Is[*deploy.InvalidError](err) { // otherwise the fields aren't the cause
			*rep = without
		}
	}
	if err == nil {
		if rep.outcome != nil && len(s.unwritten) > 0 {
			s.update(func(m *memory.Resource) { m.Unwritten = nil })
		}
		return nil
	}
	s.keepUnwritten(rep.outcome)
	return lifecycle.Unwritten(s.logger, err)
}

// report writes the report, with the own conditions.
func (r *Reconciler) report(ctx context.Context, s *Session, rep report) error {
	_, err := r.lifecycle.Report(ctx, s.resource, s.logger, s.own, true, func(present map[string]any) (map[string]any, bool, error) {
		return r.application(s, rep, present).Update(r.now(), present)
	})
	return err
}

// start reports in the status that a rollout has begun: immediately when the version changes, otherwise only after
// StartAfter, so that a short rollout costs no write for it. Call end before the end of the rollout is written.
func (r *Reconciler) start(ctx context.Context, s *Session) (end func()) {
	if r.options.dryRun {
		return func() {}
	}
	current := s.CurrentVersion()
	changes := current != "" && s.version != "" && current != s.version
	switch {
	case changes && s.underWay():
		// The start was reported before. Reporting it again would overwrite later reports.
		return func() {}
	case changes:
		r.writeStart(ctx, s)
		return func() {}
	case r.options.startAfter == 0:
		return func() {}
	}
	done := make(chan struct{})
	timer := time.AfterFunc(r.options.startAfter, func() {
		defer close(done)
		r.writeStart(ctx, s)
	})
	return func() {
		if !timer.Stop() {
			<-done
		}
	}
}

// underWay reports whether the status reports unfinished work on the present generation.
func (s *Session) underWay() bool {
	updating, ok := status.Conditions(s.resource).Get(status.ConditionUpdating)
	return ok && updating.ObservedGeneration == s.resource.GetGeneration() && updating.Reason != string(status.UpdatingStable)
}

// writeStart writes the start of a rollout. An error is only logged: the end of the rollout is written later.
func (r *Reconciler) writeStart(ctx context.Context, s *Session) {
	_, err := r.lifecycle.Report(ctx, s.resource, s.logger, s.own, false, func(present map[string]any) (map[string]any, bool, error) {
		ready, updating := status.ForStart(present, s.version)
		if ready.Reason == "" && updating.Reason == "" {
			return present, false, nil
		}
		started := status.Application{
			Ready: ready, Updating: updating, SupportedVersions: r.options.supported, Generation: s.resource.GetGeneration(),
			OnlyReady: r.options.has(OnlyReady),
		}
		return started.Update(r.now(), present)
	})
	if err != nil {
		s.logger.Info("start status not written", "error", err)
	}
}
