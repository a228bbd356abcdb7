package tls

import (
	"context"
	"strings"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/event"
	"github.com/operkit/operkit/reconcile/internal/pki"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// patience is the shortest time after which EventWaits is recorded: a rollout takes some minutes.
const patience = 10 * time.Minute

// step takes the next step of the replacement of the CA if it is due, and reports whether it was. Otherwise the
// resource is reconciled when the step is due.
func (r root) step(ctx context.Context) (stepped bool, err error) {
	s, now := r.session, r.session.Now()
	var events []func()
	err = r.change(ctx, func(a pki.Authority, found *stored) (pki.Authority, map[string]string, error) {
		events, stepped = nil, false
		next, changed, err := a.Advance(now, r.commonName(), found.asked(), r.options.times)
		if err != nil {
			return a, nil, err
		}
		if !changed {
			if !r.late(a, found, now) {
				return a, nil, nil
			}
			events = append(events, func() { r.reportWait(a) })
			return a, map[string]string{annotationBegan: ""}, nil
		}
		stepped = true
		marks := map[string]string{annotationSpread: "", annotationBegan: now.UTC().Format(time.RFC3339)}
		switch next.Stage() {
		case pki.Trusting:
			marks[annotationRenewed] = found.annotation(annotationRenew)
		case pki.Steady:
			marks[annotationBegan] = ""
		}
		if a.Stage() != pki.Steady && !a.Waited(now, r.options.times) {
			events = append(events, func() { r.reportForced(a) })
		}
		events = append(events, func() {
			s.Event(event.Normal, EventStage, "Secret %s: the replacement of the CA has reached the stage %s", r.secret(), next.Stage())
		})
		return next, marks, nil
	})
	if err != nil {
		return false, err
	}
	for _, record := range events {
		record()
	}
	return stepped, nil
}

// late reports whether a stage has waited for the components for so long that EventWaits is due. It lets the resource
// be reconciled when that, or the next step, is due.
func (r root) late(a pki.Authority, found *stored, now time.Time) bool {
	r.session.RequeueWithin(max(a.Until(r.options.times).Sub(now), time.Second))
	began, err := time.Parse(time.RFC3339, found.annotation(annotationBegan))
	if err != nil || !a.Spread.IsZero() {
		return false
	}
	rest := began.Add(max(r.options.times.Wait, patience)).Sub(now)
	r.session.RequeueWithin(rest)
	return rest <= 0
}

func (r root) reportWait(a pki.Authority) {
	r.session.Event(event.Warning, EventWaits, "Secret %s: the replacement of the CA waits in the stage %s until all of these components are ready: %s: "+
		"the old CA stays trusted, and the stage ends at %s at the latest", r.secret(), a.Stage(), r.names(), a.Latest().UTC().Format(time.RFC3339))
}

func (r root) reportForced(a pki.Authority) {
	r.session.Event(event.Warning, EventForced, "Secret %s: the stage %s has ended without its wait, because a CA is near the end of its life: "+
		"programs that didn't read their Secrets in time may not trust the others until they do, in these components: %s", r.secret(), a.Stage(), r.names())
}

// names lists the components that read certificates.
func (a *Authority) names() string {
	var names []string
	for _, c := range a.readers {
		names = append(names, c.Name())
	}
	return strings.Join(names, ", ")
}

// change computes the next state of the CA from the present one and writes it, unless the annotations are nil. The
// write is refused, and computed again, if somebody else was faster.
func (a *Authority) change(ctx context.Context, compute func(pki.Authority, *stored) (pki.Authority, map[string]string, error)) error {
	s := a.session
	ref := deploy.Ref{Kind: secretKind, Namespace: s.Manager().Namespace(), Name: a.secret()}
	domain := s.Manager().KeyDomain()
	_, err := s.Manager().Change(ctx, ref, func(current *unstructured.Unstructured) (*unstructured.Unstructured, error) {
		found, err := decode(current, domain)
		if err != nil {
			return nil, err
		}
		present, err := a.parse(found)
		if err != nil {
			return nil, err
		}
		next, marks, err := compute(present, found)
		if err != nil || marks == nil {
			return nil, err
		}
		changed := current.DeepCopy()
		changed.Object["data"] = encoded(next.Data())
		mark(changed, marks, domain)
		return changed, nil
	})
	return err
}
