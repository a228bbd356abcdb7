package tlssecret

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	// attempts is how often a step begins anew at once when somebody else was faster.
	attempts = 10
	// fresh is how long the API server's clock isn't asked again.
	fresh = time.Minute
)

// errAgain means that something else has to be decided.
var errAgain = errors.New("the Secret or the time was another one")

// step reads the Secret with get, puts it in order, and serves it. It returns when the next step is due. What goes
// wrong is recorded.
func (s *Source) step(ctx context.Context, get func(context.Context, deploy.Ref) (*unstructured.Unstructured, error)) (until time.Time, err error) {
	s.stepping.Lock()
	defer s.stepping.Unlock()
	for range attempts {
		var obj *unstructured.Unstructured
		if obj, err = get(ctx, s.ref); err != nil {
			err = fmt.Errorf("%s: can't be read: %w", s.ref, err)
			break
		}
		if until, err = s.settle(ctx, obj); !errors.Is(err, errAgain) {
			break
		}
	}
	if errors.Is(err, errAgain) {
		err = fmt.Errorf("%s: others change it all the time", s.ref)
	}
	s.report(ctx, err)
	return until, err
}

// settle puts the Secret in order, and serves it.
func (s *Source) settle(ctx context.Context, obj *unstructured.Unstructured) (time.Time, error) {
	now := s.now()
	if f := s.found; obj != nil && f.version == obj.GetResourceVersion() && !now.Before(f.from) && now.Before(f.until) {
		return f.until, nil
	}
	s.found = found{}
	read := s.config.read(obj, s.memory != nil)
	next, err := s.wish.decide(now, read.state, s.memory, read.renew != "")
	if err != nil {
		return time.Time{}, fmt.Errorf("%s: %w", s.ref, err)
	}
	if len(next.reasons) > 0 {
		if err = s.store(ctx, read, next); errors.Is(err, errAgain) {
			return time.Time{}, err
		}
	}
	if err != nil {
		s.fallBack(ctx, read.state)
		return next.until, err
	}
	s.remember(ctx, &next.state)
	if obj != nil && len(next.reasons) == 0 {
		s.found = found{obj.GetResourceVersion(), now, next.until}
	}
	return next.until, nil
}

// store writes a plan.
func (s *Source) store(ctx context.Context, read stored, next plan) error {
	if read.refused != "" {
		return fmt.Errorf("%s: %s", s.ref, read.refused)
	}
	if !s.pace.take(time.Now()) {
		return fmt.Errorf("%s: was changed too often: somebody else may change it again and again: %s", s.ref, next.reasons[0].text)
	}
	obj := s.config.write(read.object, next, read.renew)
	if since := time.Since(s.checked); s.checked.IsZero() || since > fresh {
		if err := s.checkClock(ctx, obj); err != nil {
			return err
		}
	}
	if _, err := s.send(ctx, obj, false); err != nil {
		return err
	}
	s.log(ctx, next)
	return nil
}

// checkClock sends obj as a dry run, and compares the time of the API server with the clock of this process. If they
// differ by another time than before, it has to be decided again.
func (s *Source) checkClock(ctx context.Context, obj *unstructured.Unstructured) error {
	asked, err := s.send(ctx, obj, true)
	if err != nil {
		return err
	}
	s.checked = time.Now()
	at := stampedAt(asked, s.config.FieldManager)
	if at.IsZero() {
		return nil
	}
	ahead := at.Sub(s.config.Now())
	if difference := ahead - time.Duration(s.offset.Load()); difference.Abs() < skew {
		return nil
	}
	if ahead.Abs() < skew {
		ahead = 0
	} else {
		s.config.Logger.WarnContext(ctx, "the clock of this process is wrong: certificates get the time of the API server", "ahead", (-ahead).Round(time.Second))
	}
	s.offset.Store(int64(ahead))
	return errAgain
}

// send creates or updates the Secret. The error is errAgain if somebody else was faster.
func (s *Source) send(ctx context.Context, obj *unstructured.Unstructured, dry bool) (written *unstructured.Unstructured, err error) {
	verb := "updated"
	if obj.GetResourceVersion() == "" {
		verb = "created"
		written, err = s.port.Create(ctx, obj, deploy.CreateOptions{FieldManager: s.config.FieldManager, DryRun: dry})
	} else {
		written, err = s.port.Update(ctx, obj, deploy.UpdateOptions{FieldManager: s.config.FieldManager, DryRun: dry})
	}
	missing := failure.Is[*deploy.NotFoundError](err)
	switch {
	case err == nil:
		return written, nil
	case failure.Is[*deploy.AlreadyExistsError](err), failure.Is[*deploy.StaleError](err), missing && verb == "updated":
		return nil, errAgain
	case missing:
		return nil, fmt.Errorf("%s: can't be created: is the namespace %s there? %w", s.ref, s.ref.Namespace, err)
	}
	return nil, fmt.Errorf("%s: can't be %s: %w", s.ref, verb, err)
}

// log logs why the Secret was written.
func (s *Source) log(ctx context.Context, p plan) {
	secret := s.ref.Namespace + "/" + s.ref.Name
	for _, r := range p.reasons {
		if r.warn {
			s.config.Logger.WarnContext(ctx, "the Secret of a serving certificate was put in order", "secret", secret, "reason", r.text)
		} else {
			s.config.Logger.InfoContext(ctx, "the Secret of a serving certificate was written", "secret", secret, "reason", r.text)
		}
	}
}
