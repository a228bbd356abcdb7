package operator

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/operator/internal/webhooks"
)

// webhookOwner is whose webhooks these are.
func (o *Operator) webhookOwner() webhooks.Owner {
	return webhooks.Owner{Name: o.name, Domain: o.domain()}
}

// keeps makes the Keeper of what the API server has to know about webhooks, conversions and policies.
func (r *runner) keeps(ctx context.Context) (wait func(), err error) {
	set := &r.operator.webhooks
	if set.Empty() || !r.Webhooks.Manage {
		return nil, nil
	}
	owner := r.operator.webhookOwner()
	api, err := cluster.New(ctx, r.client, append(owner.Selected(), cluster.Logger(r.logger))...)
	if err != nil {
		return nil, err
	}
	manager, err := deploy.NewManager(api, deploy.FieldManager(r.operator.manager.FieldManager()+"-webhooks"), deploy.KeyDomain(owner.KeyDomain()))
	if err != nil {
		return nil, err
	}
	r.keeper = webhooks.NewKeeper(set, owner, manager, r.reached, r.logger)
	return api.Wait, nil
}

// reached returns where the API server reaches the webhooks, nil if it doesn't.
func (r *runner) reached() (*webhooks.Target, error) {
	if r.answers == nil {
		return nil, nil
	}
	target := r.answers.target
	cas, err := r.answers.certificate.cas()
	target.CA = cas
	return &target, err
}

// afterKeeping returns services of which those of controllers begin when the API server knows the conversions: what
// they read may have to be converted.
func (r *runner) afterKeeping(all []service) []service {
	if r.keeper == nil {
		return all
	}
	written := make(chan struct{})
	r.health.starting("webhooks")
	ready := sync.OnceFunc(func() {
		r.health.starting("")
		close(written)
	})
	report := func(err error) {
		select {
		case <-written:
		default:
			r.health.starting(fmt.Sprintf("webhooks: %v", err))
		}
	}
	gated := []service{{"webhooks", func(ctx context.Context) error {
		if r.answers != nil {
			var following sync.WaitGroup
			defer following.Wait()
			following.Go(func() { r.answers.certificate.follow(ctx, r.keeper.Changed) })
		}
		return r.keeper.Run(ctx, ready, report)
	}}}
	for _, s := range all {
		gated = append(gated, service{s.name, func(ctx context.Context) error {
			select {
			case <-ctx.Done():
				return nil
			case <-written:
				return s.run(ctx)
			}
		}})
	}
	return gated
}

// looking is how often files are looked at.
const looking = time.Second

// poll returns a function that calls changed at first, and when what read returns has changed.
func poll(read func() ([]byte, error)) func(ctx context.Context, changed func()) {
	return func(ctx context.Context, changed func()) {
		last, failed := "", true
		for {
			if now, err := read(); err == nil && (failed || string(now) != last) {
				last, failed = string(now), false
				changed()
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(looking):
			}
		}
	}
}
