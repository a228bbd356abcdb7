package webhooks

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The times between two attempts after a failure.
const (
	firstRetry   = time.Second
	longestRetry = 30 * time.Second
)

// Keeper writes what the API server has to know about a Set, and repairs it when others change it. Only one replica
// runs one, since replicas of two releases would undo each other's work.
type Keeper struct {
	set     *Set
	owner   Owner
	manager *deploy.Manager
	target  func() (*Target, error)
	logger  *slog.Logger

	again  chan struct{}
	mu     sync.Mutex
	served []deploy.ServedKind
	// missing are the kinds that aren't served, as they were logged last.
	missing string
	pruned  bool
}

// NewKeeper returns a Keeper for what owner has. manager writes with a field manager of its own, on a cluster with the
// options of Owner.Selected. target returns where the API server reaches the operator, nil if it doesn't: then only
// policies are kept.
func NewKeeper(set *Set, owner Owner, manager *deploy.Manager, target func() (*Target, error), logger *slog.Logger) *Keeper {
	return &Keeper{set: set, owner: owner, manager: manager, target: target, logger: logger, again: make(chan struct{}, 1)}
}

// Changed makes the Keeper look again, for example after the CAs have changed.
func (k *Keeper) Changed() {
	select {
	case k.again <- struct{}{}:
	default:
	}
}

// Run keeps until ctx ends. It calls done each time that all is written, or with the reason why it isn't.
func (k *Keeper) Run(ctx context.Context, done func(error)) error {
	var running sync.WaitGroup
	defer running.Wait()
	looking, found := context.WithCancel(ctx) // a look costs requests each minute
	defer found()
	running.Go(func() { k.look(looking) })
	watched := map[schema.GroupVersionKind]bool{}
	for delay := firstRetry; ; {
		select {
		case <-ctx.Done():
			return nil
		case <-k.again:
		}
		if !k.knowsKinds() {
			continue // WatchKinds tells them, and then it is tried again
		}
		err := errors.Join(k.watch(ctx, watched), k.Apply(ctx))
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil:
			delay = firstRetry
			if k.missing == "" {
				found()
			}
			done(nil)
			continue
		}
		done(err)
		k.logger.Warn("registering webhooks failed, trying again", "error", err, "after", delay.String())
		passed := time.After(delay)
		running.Go(func() { // a change comes first
			select {
			case <-ctx.Done():
			case <-passed:
				k.Changed()
			}
		})
		delay = min(2*delay, longestRetry)
	}
}

// look follows which kinds are served.
func (k *Keeper) look(ctx context.Context) {
	k.view().WatchKinds(ctx, func(kinds []deploy.ServedKind) {
		k.mu.Lock()
		k.served = kinds
		k.mu.Unlock()
		k.Changed()
	})
}

func (k *Keeper) knowsKinds() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.served != nil
}

func (k *Keeper) view() deploy.KindView { return k.manager.View().(deploy.KindView) }

// watch follows the objects of the kinds that are kept.
func (k *Keeper) watch(ctx context.Context, watched map[schema.GroupVersionKind]bool) error {
	for _, kind := range kinds {
		if watched[kind] || !k.set.keeps(kind) {
			continue
		}
		_, err := k.manager.Watch(ctx, kind, deploy.WatchScope{Labels: k.owner.Selector()}, func(deploy.Event) { k.Changed() })
		if err != nil {
			return err
		}
		watched[kind] = true
	}
	return nil
}

// Apply writes what differs. It sends nothing if nothing does.
func (k *Keeper) Apply(ctx context.Context) error {
	target, err := k.target()
	if err != nil {
		return err
	}
	wanted, err := k.wanted(target)
	if err != nil {
		return err
	}
	present, gone := k.present(ctx, wanted)
	if err := errors.Join(k.apply(ctx, present), gone); err != nil || k.pruned {
		return err
	}
	if err := k.prune(ctx, wanted, target != nil); err != nil {
		return err
	}
	k.pruned = true
	return nil
}

// wanted returns the objects for the kinds that the cluster serves.
func (k *Keeper) wanted(target *Target) ([]*unstructured.Unstructured, error) {
	k.mu.Lock()
	served := k.served
	k.mu.Unlock()
	resources := map[schema.GroupKind]string{}
	for _, one := range served {
		resources[one.Kind.GroupKind()] = one.Resource
	}
	all, missing, err := k.set.objects(k.owner.Name, target, resources)
	for _, object := range all {
		k.owner.mark(object)
	}
	if text := strings.Join(missing, ", "); text != k.missing {
		k.missing = text
		if text != "" {
			k.logger.Warn("kinds with webhooks or conversions aren't served by the cluster", "kinds", text)
		}
	}
	return all, err
}

// present returns objects without the definitions that aren't there any more, which only their owner can apply. The
// error names those.
func (k *Keeper) present(ctx context.Context, wanted []*unstructured.Unstructured) (present []*unstructured.Unstructured, gone error) {
	for _, object := range wanted {
		if object.GroupVersionKind() == definitionKind {
			live, err := k.manager.View().Get(ctx, deploy.RefOf(object))
			if err == nil && live == nil {
				err = fmt.Errorf("%s was deleted: apply it again", deploy.RefOf(object))
			}
			if err != nil {
				gone = errors.Join(gone, err)
				continue
			}
		}
		present = append(present, object)
	}
	return present, gone
}

// prune deletes what an earlier release has written and this one doesn't. Without a target it is about policies only.
func (k *Keeper) prune(ctx context.Context, wanted []*unstructured.Unstructured, reached bool) error {
	found, err := k.owner.Find(ctx, k.manager.Port())
	if err != nil {
		return err
	}
	for _, object := range found {
		ref := deploy.RefOf(object)
		kind := object.GroupVersionKind()
		policy := kind == policyKind || kind == bindingKind
		if !policy && !reached || slices.ContainsFunc(wanted, func(o *unstructured.Unstructured) bool { return deploy.RefOf(o) == ref }) {
			continue
		}
		if kind == definitionKind {
			k.logger.Warn("a conversion has no function in this release", "definition", ref.Name)
			continue
		}
		if err := k.manager.Port().Delete(ctx, ref, deploy.DeleteOptions{UID: object.GetUID()}); err != nil && !absent(err) {
			return fmt.Errorf("%s isn't needed any more: %w", ref, err)
		}
		k.logger.Info("deleted what an earlier release has written", "object", ref.String())
	}
	return nil
}
