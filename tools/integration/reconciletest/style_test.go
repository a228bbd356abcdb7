package reconciletest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/filter"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/source"
	"github.com/operkit/operkit/reconcile/watch"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	configMaps = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	secrets    = schema.GroupVersionKind{Version: "v1", Kind: "Secret"}
)

// painter is a style without sessions: for each shop it paints a sign, a ConfigMap. It writes down what it is called
// for.
type painter struct {
	env    watch.Env
	orders <-chan deploy.Ref
	// fails is what the next reconciles fail with; nil: they succeed.
	fails *[]func() error

	mu   sync.Mutex
	book []string
}

func (p *painter) Sources() source.Sources {
	return source.Sources{
		When:  filter.Or(filter.Lifecycle(), filter.Generation()),
		Owned: []source.Owned{{Kind: configMaps}},
		Mapped: []source.Mapped{{Kind: secrets, Keys: func(event deploy.Event) []deploy.Ref {
			return []deploy.Ref{{Namespace: event.New.GetNamespace(), Name: event.New.GetLabels()["shop"]}}
		}}},
		External: []source.External{source.Channel(p.orders)},
	}
}

func (p *painter) note(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.book = append(p.book, line)
}

// taken returns the different lines since the last call, sorted.
func (p *painter) taken() (lines []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	lines, p.book = slices.Compact(slices.Sorted(slices.Values(p.book))), nil
	return lines
}

func (p *painter) Observe(event deploy.Event) { p.note(fmt.Sprint("sees ", event.Type)) }

func (p *painter) Forget(deploy.Ref) { p.note("forgets") }

func (p *painter) Reconcile(ctx context.Context, req request.Request) (request.Result, error) {
	p.note(fmt.Sprintf("%s %d", req.Triggers, req.Attempt))
	if len(*p.fails) > 0 {
		fails := (*p.fails)[0]
		*p.fails = (*p.fails)[1:]
		return request.Result{}, fails()
	}
	shop, err := p.env.Manager.View().Get(ctx, req.Key)
	if err != nil || shop == nil {
		return request.Result{}, err
	}
	text, _, _ := unstructured.NestedString(shop.Object, "spec", "sign")
	sign := &unstructured.Unstructured{Object: map[string]any{"data": map[string]any{"text": text}}}
	sign.SetGroupVersionKind(configMaps)
	sign.SetNamespace(req.Key.Namespace)
	sign.SetName(req.Key.Name + "-sign")
	results, err := p.env.Manager.Apply(ctx, []*unstructured.Unstructured{sign}, deploy.OwnedBy(shop))
	var result request.Result
	for _, r := range results {
		if r.Object != nil {
			result.Wrote = append(result.Wrote, request.Revision{UID: r.Object.GetUID(), ResourceVersion: r.Object.GetResourceVersion()})
		}
	}
	if text == "soon" && !req.Triggers.Has(request.Periodic) {
		result.RequeueAfter = 500 * time.Millisecond
	}
	return result, err
}

func noLuck() error { return errors.New("no luck") }
