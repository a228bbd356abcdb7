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

// Run keeps until ctx ends. After each attempt it calls ready if the definitions have their conversions, and report
// with what can't be written, or nil.
func (k *Keeper) Run(ctx context.Context, ready func(), report func(error)) error {
	watched := map[schema.GroupVersionKind]bool{}
	var retry <-chan time.Time
	var served lookout
	defer served.end()
	for delay := firstRetry; ; {
		if !k.knowsKinds() || k.missing != "" {
			served.begin(ctx, k.look)
		} else {
			served.end() // a look costs requests each minute
		}
		select {
		case <-ctx.Done():
			return nil
		case <-k.again:
		case <-retry:
		}
		retry = nil
		if !k.knowsKinds() {
			continue // look tells them, and then it is tried again
		}
		converts, err := k.Apply(ctx)
		err = errors.Join(k.watch(ctx, watched), err)
		if ctx.Err() != nil {
			return nil
		}
		if converts {
			ready()
		}
		report(err)
		if err != nil {
			k.logger.Warn("registering webhooks failed, trying again", "error", err, "after", delay.String())
			retry = time.After(delay)
			delay = min(2*delay, longestRetry)
			continue
		}
		delay = firstRetry
	}
}

// lookout is something that runs at times. The zero value doesn't run.
type lookout struct {
	stop  func()
	ended chan struct{}
}

// begin starts run unless it runs.
func (l *lookout) begin(ctx context.Context, run func(context.Context)) {
	if l.stop != nil {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	l.stop, l.ended = cancel, ended
	go func() {
		defer close(ended)
		run(ctx)
	}()
}

// end stops what runs, and waits until it has ended.
func (l *lookout) end() {
	if l.stop != nil {
		l.stop()
		<-l.ended
		l.stop = nil
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

// Apply writes what differs. It sends nothing if nothing does. converts reports whether all definitions have their
// conversions.
func (k *Keeper) Apply(ctx context.Context) (converts bool, err error) {
	target, err := k.target()
	if err != nil {
		return false, err
	}
	wanted, err := k.wanted(ctx, target)
	if err != nil {
		return false, err
	}
	definitions, others := apart(wanted)
	err = k.apply(ctx, definitions)
	converts = err == nil
	_, failed := k.manager.Apply(ctx, others, deploy.Conflicts(deploy.Force))
	if err = errors.Join(err, failed); err != nil || k.pruned || k.missing != "" {
		return converts, err
	}
	if err := k.prune(ctx, wanted, target != nil || !k.set.Serves()); err != nil {
		return converts, err
	}
	k.pruned = true
	return converts, nil
}

// apart returns the definitions among objects, and the others.
func apart(objects []*unstructured.Unstructured) (definitions, others []*unstructured.Unstructured) {
	for _, object := range objects {
		if object.GroupVersionKind() == definitionKind {
			definitions = append(definitions, object)
		} else {
			others = append(others, object)
		}
	}
	return definitions, others
}

// wanted returns the objects for the kinds that the cluster serves.
func (k *Keeper) wanted(ctx context.Context, target *Target) ([]*unstructured.Unstructured, error) {
	k.mu.Lock()
	served := k.served
	k.mu.Unlock()
	resources := map[schema.GroupKind]string{}
	for _, one := range served {
		resources[one.Kind.GroupKind()] = one.Resource
	}
	all, missing, err := k.set.objects(k.owner.Name, target, resources)
	if err != nil {
		return nil, err
	}
	if len(missing) > 0 {
		if _, err := k.view().Kinds(ctx); err != nil { // they may be there, and what is written for them has to stay
			return nil, fmt.Errorf("it isn't known whether %s are served: %w", strings.Join(missing, ", "), err)
		}
	}
	present, gone, err := k.present(ctx, all)
	for _, object := range present {
		k.owner.mark(object)
	}
	if text := strings.Join(append(missing, gone...), ", "); text != k.missing {
		k.missing = text
		if text != "" {
			k.logger.Warn("kinds with webhooks or conversions aren't served by the cluster", "kinds", text)
		}
	}
	return present, err
}

// present returns objects without the definitions that aren't there any more, which only their owner can apply: gone
// are their names.
func (k *Keeper) present(ctx context.Context, wanted []*unstructured.Unstructured) (present []*unstructured.Unstructured, gone []string, err error) {
	for _, object := range wanted {
		if object.GroupVersionKind() == definitionKind {
			live, err := k.manager.View().Get(ctx, deploy.RefOf(object))
			if err != nil {
				return nil, nil, err
			}
			if live == nil {
				gone = append(gone, object.GetName())
				continue
			}
		}
		present = append(present, object)
	}
	return present, gone, nil
}

// prune deletes what an earlier release has written and this one doesn't. Unless all is known, it is about policies
// only.
func (k *Keeper) prune(ctx context.Context, wanted []*unstructured.Unstructured, all bool) error {
	found, err := k.owner.Find(ctx, k.manager.Port())
	if err != nil {
		return err
	}
	for _, object := range found {
		ref := deploy.RefOf(object)
		kind := object.GroupVersionKind()
		policy := kind == policyKind || kind == bindingKind
		if !policy && !all || slices.ContainsFunc(wanted, func(o *unstructured.Unstructured) bool { return deploy.RefOf(o) == ref }) {
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
