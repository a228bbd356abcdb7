package reconcile

import (
	"context"
	"fmt"
	"time"

	"github.com/operkit/operkit/reconcile/request"
)

// AfterDeployer is implemented by a Controller that has something to do once every component is deployed,
// before they are verified (spec: reconcile 29). An error that Precondition makes says that it waits; with
// any error the resource isn't ready.
type AfterDeployer interface {
	AfterDeploy(ctx context.Context, s *Session, deployed Outcome) error
}

// UnsuccessfulDeployer is its twin for when not every component could be deployed. failed tells whether
// one has failed, or some merely wait.
type UnsuccessfulDeployer interface {
	AfterDeployUnsuccessful(ctx context.Context, s *Session, failed bool, deployed Outcome) error
}

// AfterVerifier is implemented by a Controller that has something to do once every component is ready
// (spec: reconcile 31). With an error the resource isn't.
type AfterVerifier interface {
	AfterVerify(ctx context.Context, s *Session, outcome Outcome) error
}

// UnsuccessfulVerifier is its twin for when all was deployed and not every component is ready.
type UnsuccessfulVerifier interface {
	AfterVerifyUnsuccessful(ctx context.Context, s *Session, failed bool, outcome Outcome) error
}

// Requeuer is implemented by a Controller that says by itself when a resource is to be reconciled again
// although nothing happens, after a reconcile without an error. Zero leaves it with Recheck and Period, less asks for
// none. An error that Precondition makes stands for the time that request.RetryAfter asks for around it, else that of Recheck,
// or for an earlier one that a component asks for.
type Requeuer interface {
	Requeue(ctx context.Context, s *Session, outcome Outcome) (after time.Duration, err error)
}

// Defaulter is implemented by a Controller whose resources have defaults: they are merged under each
// resource before Setup sees it (spec: reconcile 42), and written nowhere. The map isn't changed.
type Defaulter interface {
	Defaults() map[string]any
}

// ConfigDefaulter is implemented by a Controller with a configuration, see Session.Config. The map isn't
// changed.
type ConfigDefaulter interface {
	ConfigDefaults() map[string]any
}

// Exhauster is implemented by a Controller that wants to know when a resource is given up, see MaxAttempts:
// err is the last of its errors. What the hook answers is told too.
type Exhauster interface {
	Exhausted(ctx context.Context, s *Session, err error) error
}

// Releaser is implemented by a Controller that keeps something for a session: Release is called once when the reconcile has ended, however
// it did, and for what Plan and Graph do, too. s is worthless by then but for its names.
type Releaser interface {
	Release(s *Session)
}

// Upgrader is implemented by a Controller that wants to know when a resource is brought from one version to another, before its Setup: from
// is the version that it was last brought to, to the one that it wants. It is asked with every reconcile until the resource is there. An error
// keeps it as it is: one that Configuration makes refuses the jump, one that Precondition makes puts it off.
type Upgrader interface {
	Upgrade(ctx context.Context, s *Session, from, to string) error
}

// afterDeploy calls the hook for how the deployment went. An error of it is no component's.
func (r *Reconciler) afterDeploy(ctx context.Context, s *Session, o Outcome) error {
	hook, after := r.controller.(AfterDeployer)
	unsuccessful, afterUnsuccessful := r.controller.(UnsuccessfulDeployer)
	switch {
	case o.deployedAll() && after:
		return hooked("after the deployment", func() error { return hook.AfterDeploy(ctx, s, o) })
	case !o.deployedAll() && afterUnsuccessful:
		return hooked("after the unsuccessful deployment", func() error {
			return unsuccessful.AfterDeployUnsuccessful(ctx, s, o.Err() != nil, o)
		})
	}
	return nil
}

// afterVerify calls the hook for how the verification went, if all was deployed (spec: reconcile 31).
func (r *Reconciler) afterVerify(ctx context.Context, s *Session, o Outcome) error {
	hook, after := r.controller.(AfterVerifier)
	unsuccessful, afterUnsuccessful := r.controller.(UnsuccessfulVerifier)
	switch {
	case !o.deployedAll():
		return nil
	case o.Complete() && after:
		return hooked("after the verification", func() error { return hook.AfterVerify(ctx, s, o) })
	case !o.Complete() && afterUnsuccessful:
		return hooked("after the unsuccessful verification", func() error {
			return unsuccessful.AfterVerifyUnsuccessful(ctx, s, o.Err() != nil, o)
		})
	}
	return nil
}

// requeue asks the controller when to look again; usual is the answer without it.
func (r *Reconciler) requeue(ctx context.Context, hook Requeuer, s *Session, o Outcome, usual time.Duration) (request.Result, error) {
	var after time.Duration
	err := hooked("requeue", func() (err error) {
		after, err = hook.Requeue(ctx, s, o)
		return err
	})
	switch {
	case err != nil && classOf(err) <= classVerification:
		return request.Result{RequeueAfter: o.retryTime(r.options.recheck, err)}, nil
	case err != nil:
		return request.Result{}, err
	case after == 0:
		after = usual
	}
	return request.Result{RequeueAfter: max(after, 0)}, nil
}

// hooked calls a hook; its panic is its error.
func hooked(when string, hook func() error) error {
	if err := guarded(hook); err != nil {
		return fmt.Errorf("%s: %w", when, err)
	}
	return nil
}
