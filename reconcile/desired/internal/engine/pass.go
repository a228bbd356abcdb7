package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/desired/internal/answer"
	"github.com/operkit/operkit/reconcile/desired/internal/revision"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"github.com/operkit/operkit/reconcile/internal/lifecycle"
	"github.com/operkit/operkit/reconcile/request"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
)

const (
	// mostRounds is how often one reconcile asks a Syncer, each time after its answer has changed something.
	mostRounds = 5
	// nextRound is the time until the next reconcile if the last round has changed something, too.
	nextRound = time.Second
)

// pass is one reconcile of a parent. It asks the Syncer, and does what it wants, round after round until nothing
// changes: so the status that is written last was computed from the children as they were written.
type pass struct {
	*Reconciler
	seen    Observed
	log     *slog.Logger
	key     deploy.Ref
	manager *deploy.Manager
	// since is the time of the first reconcile of the parent by this process. It is zero if no kind is rolled.
	since time.Time
	// isFinalizing: the parent is being deleted, or isn't selected any more, and is held by the finalizer.
	isFinalizing bool
	// wrote are the revisions of the children that were written, and changes what was done with them.
	wrote   []request.Revision
	changes changes
	// stage is the reason of the event if the pass fails now.
	stage string
	// status is the status of the last answer, nil for none.
	status answer.Status
	// isPaused: the parent was paused meanwhile.
	isPaused bool
	// waits: a child has to become healthy, or has to go, before more can be done.
	waits bool
	// complete: nothing is left to do.
	complete bool
	// orphans selects the orphans that are adopted, and the adopted children. It is nil without an Adopter. strangers
	// are objects of others that the parent controls and that it doesn't select.
	orphans   labels.Selector
	strangers []*unstructured.Unstructured
	// history has the revisions of the parent, nil without any; revisions are the objects that hold them.
	history   revision.History
	revisions []*unstructured.Unstructured
	// earlier are the children that are wanted for the earlier revisions, by the name of the revision.
	earlier map[string]map[deploy.Ref]answer.Child
	// waiting is a sentence about a child that waits for its turn in a roll by revisions, empty if none waits.
	waiting string
	// again is the time after which something has to be looked at once more, zero for never.
	again time.Duration
}

func (p *pass) run(ctx context.Context) (result request.Result, err error) {
	p.changes, p.stage = changes{}, EventSyncFailed
	if held, err := p.hold(ctx); err != nil || !held {
		p.complete = err == nil
		return result, err
	}
	var response Response
	for range mostRounds {
		if err := p.read(ctx); err != nil || p.seen.Parent == nil {
			p.complete = err == nil
			return result, err
		}
		var rest request.Result
		if p.isPaused, rest, err = p.RestIfPaused(ctx, p.seen.Parent); p.isPaused {
			return rest, err
		}
		var changed bool
		p.again = 0
		if response, changed, err = p.round(ctx); err != nil {
			return result, p.fail(ctx, err)
		}
		result.RequeueAfter = lifecycle.Sooner(response.ResyncAfter, p.again)
		if !changed && p.isFinalizing && response.Finalized && !p.waits {
			p.complete = true
			return request.Result{}, p.RemoveFinalizer(ctx, p.seen.Parent, p.finalizer)
		}
		if !changed {
			p.complete = !p.waits && !p.isFinalizing
			if !p.waits {
				result.Wrote = p.wrote
			}
			return result, nil
		}
	}
	p.log.Warn("the function of a parent wants something else each time it is asked: it is asked again later", "rounds", mostRounds, "again", nextRound)
	result.RequeueAfter, result.Wrote = lifecycle.Sooner(result.RequeueAfter, nextRound), p.wrote
	_, err = p.report(ctx, p.status)
	return result, err
}

// recheckIn has the parent reconciled again after a time, at the latest.
func (p *pass) recheckIn(after time.Duration) { p.again = lifecycle.Sooner(p.again, after) }

// hold sees to the finalizer. It returns false if nothing is to be done with the parent.
func (p *pass) hold(ctx context.Context) (held bool, err error) {
	has := slices.Contains(p.seen.Parent.GetFinalizers(), p.finalizer)
	if p.isFinalizing, err = p.leaves(ctx, p.seen.Parent); err != nil {
		return false, p.fail(ctx, err)
	}
	switch {
	case has && p.Finalize == nil:
		if err := p.RemoveFinalizer(ctx, p.seen.Parent, p.finalizer); err != nil {
			return false, err
		}
	case !has && p.Finalize != nil && !p.isFinalizing:
		if err := p.Reads(p.seen.Parent); err != nil {
			return false, p.fail(ctx, err) // nothing was done for it, so that nothing has to be finalized
		}
		if err := p.AddFinalizer(ctx, p.seen.Parent, p.finalizer); err != nil {
			return false, fmt.Errorf("add the finalizer: %w", err)
		}
		return true, nil
	}
	return !p.isFinalizing || has && p.Finalize != nil, nil
}

// read reads the parent. It is nil if it is gone or another one, and if it leaves unlike before.
func (p *pass) read(ctx context.Context) error {
	current, err := p.Manager.View().Get(ctx, p.key)
	if err != nil {
		return err
	}
	if current == nil || current.GetUID() != p.seen.Parent.GetUID() {
		p.seen.Parent = nil
		return nil
	}
	leaves, err := p.leaves(ctx, current)
	if err != nil {
		return err
	}
	if leaves != p.isFinalizing {
		p.seen.Parent = nil
		return nil
	}
	p.seen.Parent = current
	p.manager, err = p.Manager.With(deploy.OwnedBy(current))
	return err
}

// round asks the Syncer once, and does what it wants. changed: something was written.
func (p *pass) round(ctx context.Context) (response Response, changed bool, err error) {
	if err := p.observe(ctx); err != nil {
		return response, false, err
	}
	p.stage = EventSyncFailed
	response, wanted, err := p.ask(ctx, p.seen)
	if err != nil {
		return response, false, err
	}
	if p.status, err = answer.ReadStatus(response.Status); err == nil && !p.Decorates {
		err = p.status.Check(p.Now())
	}
	if err != nil {
		return response, false, p.mistake(err)
	}
	revised, err := p.revise(ctx, &response, wanted)
	if err != nil {
		return response, false, err
	}
	p.stage = EventChildFailed
	claimed, unclaimed := p.claim(ctx, wanted)
	if claimed { // what couldn't be adopted or released is tried again in the next round
		return response, true, nil
	}
	changed, err = p.carryOut(ctx, revised)
	if err = errors.Join(unclaimed, err); !changed {
		advanced, stopped := p.advance(ctx, wanted, err != nil)
		changed, err = advanced, errors.Join(err, stopped)
	}
	if err == nil && changed {
		return response, true, nil
	}
	if err == nil || p.Failed == nil { // without a status of errors, that of the Syncer counts
		if err == nil {
			p.stage = EventSyncFailed
		}
		decorated, undecorated := p.decorate(ctx, response)
		reported, unreported := p.report(ctx, p.status)
		changed, err = decorated || reported, errors.Join(err, undecorated, unreported)
	}
	return response, changed, err
}

// ask asks the Syncer about a parent, and returns the children that it wants.
func (p *pass) ask(ctx context.Context, seen Observed) (response Response, wanted []answer.Child, err error) {
	ask := p.Sync
	if p.isFinalizing {
		ask = p.Finalize
	}
	if response, err = ask(ctx, seen); err != nil {
		return response, nil, err
	}
	if response.ResyncAfter < 0 {
		return response, nil, p.mistake(fmt.Errorf("the time until the next call is negative, %s: return zero for never", response.ResyncAfter))
	}
	scopes, err := p.scopeOf(ctx)
	if err != nil {
		return response, nil, err
	}
	rules := answer.Rules{Parent: p.key, Kinds: p.byGroup, Scopes: scopes}
	wanted, faults := rules.Read(response.Children, p.seen.Children.At)
	if len(faults) > 0 {
		p.stage = EventRefused
		return response, nil, p.refuse(faults)
	}
	return response, wanted, nil
}

// mistake returns the error for what is wrong with an answer: the answer stays the same until something changes in the
// cluster, unless the functions are external.
func (p *pass) mistake(err error) error {
	if p.External {
		return err
	}
	return request.Permanent(err)
}

// refuse returns the error for children that the parent can't have.
func (p *pass) refuse(faults []answer.Fault) error {
	errs := make([]error, len(faults))
	for i, fault := range faults {
		errs[i] = p.mistake(p.Refused(p.key, fault))
	}
	return errors.Join(errs...)
}

// fail reports an error in the status, and returns it.
func (p *pass) fail(ctx context.Context, err error) error {
	if lifecycle.Interrupted(ctx) || lifecycle.Temporary(err) {
		return err
	}
	if failure.Is[*UnreadableError](err) {
		return errors.Join(err, p.reportUnreadable(ctx, err))
	}
	if p.Failed == nil {
		if _, failed := p.report(ctx, nil); failed != nil { // the parent can be read, so that it isn't Unreadable any more
			return errors.Join(err, failed)
		}
		return err
	}
	if p.read(ctx) != nil || p.seen.Parent == nil || p.observeChildren(ctx) != nil {
		return err // the status would be about the children before the writes
	}
	var status answer.Status
	value, failed := p.Failed(ctx, p.seen, err)
	if failed == nil {
		if status, failed = answer.ReadStatus(value); failed != nil {
			failed = p.mistake(failed)
		}
	}
	if failed == nil {
		_, failed = p.report(ctx, status)
	}
	if failed != nil {
		return errors.Join(err, fmt.Errorf("the status of the error: %w", failed))
	}
	return err
}
