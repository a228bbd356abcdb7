package peering

import (
	"context"
	"errors"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/trigger"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// again is the time before a failed request is repeated.
const again = time.Second

// follow watches the Leases of the group, and waits until all of them are known. It returns false when ctx has ended.
func (p *Peering) follow(ctx context.Context) bool {
	p.table.replace(nil, time.Now())
	var reads deploy.Subscription
	for logged := false; ctx.Err() == nil; trigger.Sleep(ctx, again) {
		var err error
		if reads == nil {
			reads, err = p.view.Subscribe(ctx, leaseKind, p.event)
		}
		if err == nil {
			err = reads.Synced(ctx)
		}
		if err == nil {
			return true
		}
		if !logged && ctx.Err() == nil {
			p.config.Logger.WarnContext(ctx, "the Leases of peers can't be read: this process doesn't work before", "error", err,
				"grant", "get, list, watch, create, update and delete of leases.coordination.k8s.io in namespace "+p.config.Namespace)
			logged = true
		}
	}
	return false
}

// event records what has happened to a Lease.
func (p *Peering) event(e deploy.Event) {
	name := e.New.GetName()
	if e.Type == deploy.Deleted || e.Type == deploy.Left {
		p.table.gone(name)
	} else {
		p.table.saw(e.New, time.Now())
	}
	if name == p.self.Lease {
		return
	}
	select {
	case p.changed <- struct{}{}:
	default:
	}
}

// answers is how long the requests about peers may take.
const answers = 5 * time.Second

// verdict judges by what is known now. Before a peer that has run out is believed to be gone, the cluster is asked: its
// renewals may have been missed. A pause needs no request.
func (p *Peering) verdict(ctx context.Context) Verdict {
	v := Judge(p.self, p.table.peers(), time.Now())
	if v.Paused() || len(p.table.ended(p.self.Lease, time.Now())) == 0 {
		return v
	}
	if err := p.confirm(ctx); err != nil && p.last != nil && p.last.Paused() {
		v = *p.last
		v.Until = time.Now().Add(again)
		return v
	}
	return Judge(p.self, p.table.peers(), time.Now())
}

// confirm reads all Leases, and deletes those that have run out.
func (p *Peering) confirm(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, answers)
	defer cancel()
	leases, err := p.port.List(ctx, leaseKind, p.config.Namespace, deploy.ListOptions{Labels: p.config.Selector()})
	if err != nil {
		return err
	}
	p.table.replace(leases, time.Now())
	for _, lease := range p.table.ended(p.self.Lease, time.Now()) {
		p.table.drop(lease)
		if err := p.port.Delete(ctx, deploy.RefOf(lease), deploy.DeleteOptions{UID: lease.GetUID()}); err != nil {
			p.config.Logger.DebugContext(ctx, "the Lease of a peer that is gone wasn't deleted", "lease", lease.GetName(), "error", err)
		}
	}
	return nil
}

// age finds out how long freezes have lasted already, and reports whether it has. Until that is known, they last as if
// they had just begun.
func (p *Peering) age(ctx context.Context) bool {
	freezes := p.table.ageless()
	if len(freezes) == 0 {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, answers)
	defer cancel()
	now, err := p.serverTime(ctx)
	if err != nil {
		p.config.Logger.DebugContext(ctx, "the time of the API server isn't known", "error", err)
		return false
	}
	for _, freeze := range freezes {
		p.table.age(freeze, now.Sub(freeze.GetCreationTimestamp().Time), time.Now())
	}
	return true
}

// serverTime returns the time of the API server's clock, by the creation of an object that isn't stored.
func (p *Peering) serverTime(ctx context.Context) (time.Time, error) {
	probe := &unstructured.Unstructured{Object: map[string]any{}}
	probe.SetGroupVersionKind(leaseKind)
	probe.SetNamespace(p.config.Namespace)
	probe.SetName(p.self.Lease + "-clock")
	created, err := p.port.Create(ctx, probe, deploy.CreateOptions{FieldManager: p.config.Operator, DryRun: true})
	if err != nil {
		return time.Time{}, err
	}
	at := created.GetCreationTimestamp()
	if at.IsZero() {
		return time.Time{}, errors.New("the created object has no time")
	}
	return at.Time, nil
}
