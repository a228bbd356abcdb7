package deploytest

import (
	"context"
	"errors"
	"slices"

	"github.com/operkit/operkit/deploy"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// cluster is one of these parts.
type cluster struct {
	port deploy.Port
	view deploy.View
}

func (c cluster) Port() deploy.Port { return c.port }
func (c cluster) View() deploy.View { return c.view }

// breakage is one thing that a cluster does wrong, and the case that notices.
type breakage struct {
	caught string
	broken func(deploy.Cluster) deploy.Cluster
}

var breakages = map[string]breakage{
	"Scope knows every kind":                    {"kinds/unknown", badPort(func(p *badness) { p.scope = everyKind })},
	"Kinds finds nothing":                       {"kinds/by every name", badPort(func(p *badness) { p.kinds = noKinds })},
	"Get of what is absent is an error":         {"delete/gone", badPort(func(p *badness) { p.got = notFound })},
	"Get of what is absent is any error":        {"delete/gone", badPort(func(p *badness) { p.got = anyError })},
	"List is unordered":                         {"list/order", badPort(func(p *badness) { p.listed = slices.Reverse[[]*unstructured.Unstructured] })},
	"List ignores labels":                       {"list/by labels", badPort(func(p *badness) { p.listing = func(o *deploy.ListOptions) { o.Labels = nil } })},
	"List ignores fields":                       {"list/by fields", badPort(func(p *badness) { p.listing = func(o *deploy.ListOptions) { o.Fields = nil } })},
	"Create overwrites":                         {"create/exists", badPort(func(p *badness) { p.create = overwrite })},
	"Create stores a dry run":                   {"create/dry run", badPort(func(p *badness) { p.creating = func(o *deploy.CreateOptions) { o.DryRun = false } })},
	"Create changes what it is given":           {"create/input", badPort(func(p *badness) { p.given = label })},
	"Update ignores the version":                {"update/outdated", badPort(func(p *badness) { p.update = unconditional })},
	"Update stores a dry run":                   {"update/dry run", badPort(func(p *badness) { p.updating = func(o *deploy.UpdateOptions) { o.DryRun = false } })},
	"Apply always forces":                       {"ownership/conflict", badPort(func(p *badness) { p.applying = func(o *deploy.ApplyOptions) { o.Force = true } })},
	"Apply never forces":                        {"ownership/forced", badPort(func(p *badness) { p.applying = func(o *deploy.ApplyOptions) { o.Force = false } })},
	"Apply is always operkit's":                 {"ownership/shared value", badPort(func(p *badness) { p.applying = func(o *deploy.ApplyOptions) { o.FieldManager = "operkit" } })},
	"Apply stores a dry run":                    {"apply/dry run of a change", badPort(func(p *badness) { p.applying = func(o *deploy.ApplyOptions) { o.DryRun = false } })},
	"Apply never creates":                       {"apply/creates", badPort(func(p *badness) { p.applied = func(a *deploy.Applied) { a.Created = false } })},
	"Apply always creates":                      {"apply/creates", badPort(func(p *badness) { p.applied = func(a *deploy.Applied) { a.Created = true } })},
	"Apply brings back what is gone":            {"apply/uid of what is gone", badPort(func(p *badness) { p.intent = func(obj *unstructured.Unstructured) { obj.SetUID("") } })},
	"Apply ignores the version":                 {"apply/outdated", badPort(func(p *badness) { p.intent = func(obj *unstructured.Unstructured) { obj.SetResourceVersion("") } })},
	"Apply takes the status":                    {"status/not by an apply of the object", badPort(func(p *badness) { p.applied = func(a *deploy.Applied) { a.Object.Object["status"] = map[string]any{} } })},
	"Patch ignores the subresource":             {"status/by its subresource", badPort(func(p *badness) { p.patching = func(patch *deploy.PatchRequest) { patch.Subresource = "" } })},
	"Patch forgets who it was":                  {"ownership/value changed by a patch", badPort(func(p *badness) { p.patching = func(patch *deploy.PatchRequest) { patch.FieldManager = "operkit" } })},
	"Patch does nothing":                        {"patch/merge", badPort(func(p *badness) { p.patching = func(patch *deploy.PatchRequest) { patch.DryRun = true } })},
	"Delete ignores the uid":                    {"delete/other uid", badPort(func(p *badness) { p.deleting = func(o *deploy.DeleteOptions) { o.UID = "" } })},
	"Delete carries out a dry run":              {"delete/dry run", badPort(func(p *badness) { p.deleting = func(o *deploy.DeleteOptions) { o.DryRun = false } })},
	"Delete of what is absent is no error":      {"delete/absent", badPort(func(p *badness) { p.deleted = func(error) error { return nil } })},
	"Delete orphans":                            {"garbage/by default", badPort(func(p *badness) { p.deleting = func(o *deploy.DeleteOptions) { o.Propagation = orphan } })},
	"Delete always goes on in the background":   {"garbage/orphaned", badPort(func(p *badness) { p.deleting = func(o *deploy.DeleteOptions) { o.Propagation = "" } })},
	"the View shows what was there at first":    {"view/own writes", badView(func(v *badReads) { v.first = map[deploy.Ref]*unstructured.Unstructured{} })},
	"the View ignores selectors":                {"view/list", badView(func(v *badReads) { v.all = true })},
	"the View makes an error of what is absent": {"view/unwatched", badView(func(v *badReads) { v.absence = true })},
	"the View tells of nothing that exists":     {"events/what exists", badView(func(v *badReads) { v.silent = true })},
	"the View finds all objects by any owner": {"view/by owner", func(c deploy.Cluster) deploy.Cluster {
		return cluster{c.Port(), forAnyOwner{c.View()}}
	}},
	"the View shows all objects": {"selection/reads", func(c deploy.Cluster) deploy.Cluster {
		return cluster{c.Port(), everything{c.View(), c.Port()}}
	}},
	"the View makes a deletion of a lost label": {"selection/leaves and is back", func(c deploy.Cluster) deploy.Cluster {
		return cluster{c.Port(), mournful{c.View()}}
	}},
	"the View leaves out managedFields": {"manager/unchanged", badView(func(v *badReads) { v.anonymous = true })},
}

// badness is a Port with parts that may be replaced.
type badness struct {
	deploy.Port
	scope    func(deploy.Scope, error) (deploy.Scope, error)
	kinds    func([]schema.GroupVersionKind) []schema.GroupVersionKind
	got      func(*unstructured.Unstructured, error) (*unstructured.Unstructured, error)
	listing  func(*deploy.ListOptions)
	listed   func([]*unstructured.Unstructured)
	given    func(*unstructured.Unstructured)
	create   func(context.Context, deploy.Port, *unstructured.Unstructured, deploy.CreateOptions) (*unstructured.Unstructured, error)
	creating func(*deploy.CreateOptions)
	update   func(context.Context, deploy.Port, *unstructured.Unstructured)
	updating func(*deploy.UpdateOptions)
	intent   func(*unstructured.Unstructured)
	applying func(*deploy.ApplyOptions)
	applied  func(*deploy.Applied)
	patching func(*deploy.PatchRequest)
	deleting func(*deploy.DeleteOptions)
	deleted  func(error) error
}

func badPort(breaks func(*badness)) func(deploy.Cluster) deploy.Cluster {
	return func(c deploy.Cluster) deploy.Cluster {
		p := &badness{Port: c.Port()}
		breaks(p)
		return cluster{p, c.View()}
	}
}

func everyKind(scope deploy.Scope, err error) (deploy.Scope, error) {
	if err != nil {
		return deploy.Namespaced, nil //nolint:nilerr // that is what is broken here
	}
	return scope, nil
}

func noKinds([]schema.GroupVersionKind) []schema.GroupVersionKind { return nil }

func notFound(obj *unstructured.Unstructured, err error) (*unstructured.Unstructured, error) {
	if obj == nil && err == nil {
		return nil, &deploy.NotFoundError{}
	}
	return obj, err
}

func anyError(obj *unstructured.Unstructured, err error) (*unstructured.Unstructured, error) {
	if obj == nil && err == nil {
		return nil, errors.New("something went wrong")
	}
	return obj, err
}

func label(obj *unstructured.Unstructured) { obj.SetLabels(map[string]string{"broken": "yes"}) }

const orphan = metav1.DeletePropagationOrphan

func overwrite(ctx context.Context, p deploy.Port, obj *unstructured.Unstructured, options deploy.CreateOptions) (*unstructured.Unstructured, error) {
	applied, err := p.Apply(ctx, obj, deploy.ApplyOptions{FieldManager: options.FieldManager, Force: true})
	return applied.Object, err
}

// unconditional gives obj the version that the cluster has.
func unconditional(ctx context.Context, p deploy.Port, obj *unstructured.Unstructured) {
	if live, err := p.Get(ctx, deploy.RefOf(obj)); err == nil && live != nil {
		obj.SetResourceVersion(live.GetResourceVersion())
	}
}

// touch calls what was replaced.
func touch[T any](replaced func(T), with T) {
	if replaced != nil {
		replaced(with)
	}
}

func (p *badness) Scope(ctx context.Context, kind schema.GroupVersionKind) (deploy.Scope, error) {
	scope, err := p.Port.Scope(ctx, kind)
	if p.scope != nil {
		return p.scope(scope, err)
	}
	return scope, err
}

func (p *badness) Kinds(ctx context.Context, name string) ([]schema.GroupVersionKind, error) {
	found, err := p.Port.Kinds(ctx, name)
	if p.kinds != nil {
		return p.kinds(found), err
	}
	return found, err
}

func (p *badness) Get(ctx context.Context, ref deploy.Ref) (*unstructured.Unstructured, error) {
	obj, err := p.Port.Get(ctx, ref)
	if p.got != nil {
		return p.got(obj, err)
	}
	return obj, err
}

func (p *badness) List(ctx context.Context, kind schema.GroupVersionKind, namespace string, options deploy.ListOptions) ([]*unstructured.Unstructured, error) {
	touch(p.listing, &options)
	found, err := p.Port.List(ctx, kind, namespace, options)
	touch(p.listed, found)
	return found, err
}

func (p *badness) Create(ctx context.Context, obj *unstructured.Unstructured, options deploy.CreateOptions) (*unstructured.Unstructured, error) {
	touch(p.given, obj)
	touch(p.creating, &options)
	if p.create != nil {
		return p.create(ctx, p.Port, obj, options)
	}
	return p.Port.Create(ctx, obj, options)
}

func (p *badness) Update(ctx context.Context, obj *unstructured.Unstructured, options deploy.UpdateOptions) (*unstructured.Unstructured, error) {
	touch(p.updating, &options)
	obj = obj.DeepCopy()
	if p.update != nil {
		p.update(ctx, p.Port, obj)
	}
	return p.Port.Update(ctx, obj, options)
}

func (p *badness) Apply(ctx context.Context, obj *unstructured.Unstructured, options deploy.ApplyOptions) (deploy.Applied, error) {
	touch(p.applying, &options)
	obj = obj.DeepCopy()
	touch(p.intent, obj)
	applied, err := p.Port.Apply(ctx, obj, options)
	if err == nil {
		touch(p.applied, &applied)
	}
	return applied, err
}

func (p *badness) Patch(ctx context.Context, ref deploy.Ref, patch deploy.PatchRequest) (*unstructured.Unstructured, error) {
	touch(p.patching, &patch)
	return p.Port.Patch(ctx, ref, patch)
}

func (p *badness) Delete(ctx context.Context, ref deploy.Ref, options deploy.DeleteOptions) error {
	touch(p.deleting, &options)
	err := p.Port.Delete(ctx, ref, options)
	if p.deleted != nil {
		return p.deleted(err)
	}
	return err
}

// forAnyOwner is a View that finds objects by any owner.
type forAnyOwner struct{ deploy.View }

func (v forAnyOwner) Owned(ctx context.Context, kind schema.GroupVersionKind, namespace string, _ types.UID) ([]*unstructured.Unstructured, error) {
	return v.List(ctx, kind, namespace, nil)
}

// badReads is a View that does one of these things.
type badReads struct {
	deploy.View
	// first is what it goes on showing.
	first map[deploy.Ref]*unstructured.Unstructured

	all, absence, silent, anonymous bool
}

func badView(breaks func(*badReads)) func(deploy.Cluster) deploy.Cluster {
	return func(c deploy.Cluster) deploy.Cluster {
		v := &badReads{View: c.View()}
		breaks(v)
		return cluster{c.Port(), v}
	}
}

func (v *badReads) Get(ctx context.Context, ref deploy.Ref) (*unstructured.Unstructured, error) {
	obj, err := v.View.Get(ctx, ref)
	switch {
	case err != nil:
	case obj == nil && v.absence:
		return nil, &deploy.NotFoundError{Ref: ref}
	case obj != nil && v.anonymous:
		obj = obj.DeepCopy()
		obj.SetManagedFields(nil)
	case v.first[ref] != nil:
		return v.first[ref], nil
	case v.first != nil && obj != nil:
		v.first[ref] = obj
	}
	return obj, err
}

func (v *badReads) List(ctx context.Context, kind schema.GroupVersionKind, namespace string, selector labels.Selector) ([]*unstructured.Unstructured, error) {
	if v.all {
		selector = nil
	}
	return v.View.List(ctx, kind, namespace, selector)
}

func (v *badReads) Subscribe(ctx context.Context, kind schema.GroupVersionKind, handle func(deploy.Event)) (deploy.Subscription, error) {
	if v.silent {
		handle = func(deploy.Event) {}
	}
	return v.View.Subscribe(ctx, kind, handle)
}

// everything is a View that lists objects that aren't selected, too.
type everything struct {
	deploy.View
	port deploy.Port
}

func (v everything) List(ctx context.Context, kind schema.GroupVersionKind, namespace string, selector labels.Selector) ([]*unstructured.Unstructured, error) {
	return v.port.List(ctx, kind, namespace, deploy.ListOptions{Labels: selector})
}

// mournful is a View that reports what has left as deleted.
type mournful struct{ deploy.View }

func (v mournful) Subscribe(ctx context.Context, kind schema.GroupVersionKind, handle func(deploy.Event)) (deploy.Subscription, error) {
	return v.View.Subscribe(ctx, kind, func(event deploy.Event) {
		if event.Type == deploy.Left {
			event.Type = deploy.Deleted
		}
		handle(event)
	})
}
