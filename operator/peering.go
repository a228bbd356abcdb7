package operator

import (
	"cmp"
	"context"
	"slices"

	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/operator/config"
	"github.com/operkit/operkit/operator/internal/cli"
	"github.com/operkit/operkit/reconcile/peering"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// meetPeers makes the Peering of this process if the setting peering.priority is given. Nothing is sent before it runs.
// Like leader election it has a connection of its own.
func (r *runner) meetPeers(ctx context.Context) (wait func(), err error) {
	if r.Peering.Priority == "" {
		return nil, nil
	}
	c, err := r.peeringConfig()
	if err != nil {
		return nil, err
	}
	client := rest.CopyConfig(r.plain)
	client.UserAgent += "/peering"
	leases := schema.GroupKind{Group: "coordination.k8s.io", Kind: "Lease"}
	api, err := cluster.New(ctx, client, cluster.Logger(r.logger), cluster.Namespaces(c.Namespace),
		cluster.Selected(leases, c.Selector(), fields.Everything()))
	if err != nil {
		return nil, err
	}
	r.peers, err = peering.New(api, c)
	return api.Wait, err
}

// peeringConfig returns who this process is among its peers.
func (r *runner) peeringConfig() (c peering.Config, err error) {
	e := r.election
	c = peering.Config{
		Group:  peering.Group{Domain: r.operator.domain(), Operator: r.operator.name, Namespace: cmp.Or(r.Peering.Namespace, e.Namespace)},
		Logger: r.logger,
		Changed: func(v peering.Verdict) {
			r.health.judged(v)
			r.metrics.Pauses(v.Paused())
		},
	}
	if c.Priority, err = peering.ParsePriority(r.Peering.Priority); err != nil {
		return c, err
	}
	if c.Namespace == "" {
		return c, cli.Usage("peering.priority needs peering.namespace outside of a Pod: the namespace of the operator in the cluster")
	}
	if e.Lock == config.PerObjectLock {
		return c, cli.Usage("peering.priority has no meaning with leader-election.lock %s", e.Lock)
	}
	if e.global() {
		c.Election = e.Namespace + "/" + e.Name
	}
	c.Timing = e.timing()
	return c, nil
}

// readyProbes are the probes of /readyz: those of the operator, and what peering does if it is on.
func (r *runner) readyProbes() []*probe {
	if r.Peering.Priority == "" {
		return r.operator.ready
	}
	peers := &probe{name: "peering", ask: func(context.Context) (any, error) {
		text, _ := r.health.peering()
		return text, nil
	}}
	return append(slices.Clone(r.operator.ready), peers)
}
