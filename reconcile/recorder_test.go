package reconcile

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// recorder is a cluster in memory that keeps the calls made to it, and refuses some.
type recorder struct {
	memory *dryrun.Cluster
	// shown, when set, finds changes of what the View shows.
	shown *shown
	// refuse, when set, may answer a call such as "apply ConfigMap shop/a" with an error.
	refuse func(call string) error
	// unreadable, when set, may answer a read with an error.
	unreadable func(ref deploy.Ref) error
	// drops is the field of the status that the schema of widgets doesn't know.
	drops []string
	// holds is how many bytes the JSON of an object whose status is written may have; 0: any number.
	holds int

	// unheld are kinds that the View doesn't hold: to read them is a call.
	unheld []schema.GroupVersionKind

	mu    sync.Mutex
	calls []string
	// unknown are the kinds that the cluster doesn't serve.
	unknown []schema.GroupVersionKind
}

func (r *recorder) Port() deploy.Port { return &port{r.memory.Port(), r} }
func (r *recorder) View() deploy.View { return &view{r.memory.View(), r} }

func (r *recorder) made() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.calls)
}

func (r *recorder) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = nil
}

func (r *recorder) record(verb string, ref deploy.Ref, subresource string) error {
	call := verb + " " + ref.String()
	if subresource != "" {
		call += "/" + subresource
	}
	r.mu.Lock()
	r.calls = append(r.calls, call)
	r.mu.Unlock()
	if r.refuse == nil {
		return nil
	}
	return r.refuse(call)
}

// serves all kinds but the given ones.
func (r *recorder) serves(allBut ...schema.GroupVersionKind) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unknown = allBut
}

func (r *recorder) served(kind schema.GroupVersionKind) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if slices.Contains(r.unknown, kind) {
		return &deploy.KindUnknownError{Kind: kind}
	}
	return nil
}

// refusing refuses the named calls with err.
func refusing(err error, calls ...string) func(string) error {
	return func(call string) error {
		if slices.Contains(calls, call) {
			return err
		}
		return nil
	}
}

type port struct {
	deploy.Port
	*recorder
}

func (p *port) Scope(ctx context.Context, kind schema.GroupVersionKind) (deploy.Scope, error) {
	if err := p.served(kind); err != nil {
		return "", err
	}
	return p.Port.Scope(ctx, kind)
}

func (p *port) Get(ctx context.Context, ref deploy.Ref) (*unstructured.Unstructured, error) {
	if err := p.record("get", ref, ""); err != nil {
		return nil, err
	}
	return p.Port.Get(ctx, ref)
}

func (p *port) Apply(ctx context.Context, obj *unstructured.Unstructured, options deploy.ApplyOptions) (deploy.Applied, error) {
	if err := p.record("apply", deploy.RefOf(obj), ""); err != nil {
		return deploy.Applied{}, err
	}
	return p.Port.Apply(ctx, obj, options)
}

func (p *port) Update(ctx context.Context, obj *unstructured.Unstructured, options deploy.UpdateOptions) (*unstructured.Unstructured, error) {
	if err := p.record("update", deploy.RefOf(obj), ""); err != nil {
		return nil, err
	}
	return p.Port.Update(ctx, obj, options)
}

func (p *port) Delete(ctx context.Context, ref deploy.Ref, options deploy.DeleteOptions) error {
	if err := p.record("delete", ref, ""); err != nil {
		return err
	}
	return p.Port.Delete(ctx, ref, options)
}

func (p *port) Patch(ctx context.Context, ref deploy.Ref, patch deploy.PatchRequest) (*unstructured.Unstructured, error) {
	if err := p.record("patch", ref, patch.Subresource); err != nil {
		return nil, err
	}
	if len(p.drops) > 0 && patch.Subresource == "status" {
		var content map[string]any
		if err := json.Unmarshal(patch.Body, &content); err != nil {
			return nil, err
		}
		unstructured.RemoveNestedField(content, append([]string{"status"}, p.drops...)...)
		body, err := json.Marshal(content)
		if err != nil {
			return nil, err
		}
		patch.Body = body
	}
	if p.holds > 0 && patch.Subresource == "status" {
		trial := patch
		trial.DryRun = true
		would, err := p.Port.Patch(ctx, ref, trial)
		if err != nil {
			return nil, err
		}
		would.SetManagedFields(nil)
		if text, err := json.Marshal(would); err != nil || len(text) > p.holds {
			return nil, &deploy.InvalidError{Ref: ref, TooLarge: true, Err: errors.New("etcdserver: request is too large")}
		}
	}
	return p.Port.Patch(ctx, ref, patch)
}

type view struct {
	deploy.View
	*recorder
}

func (v *view) Subscribe(ctx context.Context, kind schema.GroupVersionKind, handle func(deploy.Event)) (deploy.Subscription, error) {
	if err := v.served(kind); err != nil {
		return nil, err
	}
	return v.View.Subscribe(ctx, kind, handle)
}

func (v *view) Holds(kind schema.GroupVersionKind, _ string) bool {
	return v.served(kind) == nil && !slices.Contains(v.unheld, kind)
}

func (v *view) Get(ctx context.Context, ref deploy.Ref) (*unstructured.Unstructured, error) {
	if err := v.served(ref.Kind); err != nil {
		return nil, err
	}
	if v.unreadable != nil {
		if err := v.unreadable(ref); err != nil {
			return nil, err
		}
	}
	if slices.Contains(v.unheld, ref.Kind) {
		if err := v.record("read", ref, ""); err != nil {
			return nil, err
		}
	}
	obj, err := v.View.Get(ctx, ref)
	if v.shown != nil {
		v.shown.saw(obj)
	}
	return obj, err
}

func (v *view) List(ctx context.Context, kind schema.GroupVersionKind, namespace string, selector labels.Selector) ([]*unstructured.Unstructured, error) {
	ref := deploy.Ref{Kind: kind, Namespace: namespace}
	if v.unreadable != nil {
		if err := v.unreadable(ref); err != nil {
			return nil, err
		}
	}
	if slices.Contains(v.unheld, kind) {
		if err := v.record("list", ref, ""); err != nil {
			return nil, err
		}
	}
	objects, err := v.View.List(ctx, kind, namespace, selector)
	for _, obj := range objects {
		if v.shown != nil {
			v.shown.saw(obj)
		}
	}
	return objects, err
}
