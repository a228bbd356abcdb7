package temporarypatch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/internal/optional"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/smp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
)

// DefaultKind is the kind of temporary patches when no other is set.
var DefaultKind = schema.GroupVersionKind{Group: deploy.Domain, Version: "v1", Kind: "TemporaryPatch"}

// Option is an option of New. The last one of a kind wins, except that AlsoReads and Merge add up; nil is ignored.
type Option func(*options)

type options struct {
	kind  schema.GroupVersionKind
	now   func() time.Time
	merge []smp.Option
	also  []schema.GroupKind
}

// As sets the kind of the patches, for clusters in which another program owns the default kind. Default: DefaultKind,
// with the manager's domain as its group.
func As(kind schema.GroupVersionKind) Option { return func(o *options) { o.kind = kind } }

// AlsoReads also applies patches of further kinds, in any version, if a target already has entries for them: for
// example patches that another framework has left, such as TemporaryPatch.oper8.org. Their entries aren't updated, so
// edits of these patches don't bring the target to reconcile, and their status isn't written; the entry of a deleted
// patch is removed. The operator needs the right to get them. Entries of all other kinds are ignored with a warning.
func AlsoReads(kinds ...schema.GroupKind) Option {
	return func(o *options) { o.also = append(o.also, kinds...) }
}

// Clock sets the source of time; default time.Now.
func Clock(now func() time.Time) Option { return func(o *options) { o.now = now } }

// Merge sets how bodies are applied, such as smp.InMode(smp.Oper8) for patches that were written for oper8.
func Merge(merge ...smp.Option) Option {
	return func(o *options) { o.merge = append(o.merge, merge...) }
}

func newOptions(group string, opts []Option) (options, error) {
	o := options{kind: DefaultKind, now: time.Now}
	o.kind.Group = group
	optional.Apply(&o, opts)
	if o.now == nil {
		return o, errors.New("nil clock")
	}
	problems := append(wrongIn(o.kind.GroupKind()), validation.IsDNS1035Label(o.kind.Version)...)
	if len(problems) > 0 {
		return o, fmt.Errorf("kind of temporary patches %q: %s", o.kind, strings.Join(problems, "; "))
	}
	for _, kind := range o.also {
		if problems := wrongIn(kind); len(problems) > 0 {
			return o, fmt.Errorf("further kind of temporary patches %q: %s", kind, strings.Join(problems, "; "))
		}
	}
	return o, nil
}

func wrongIn(kind schema.GroupKind) []string {
	return append(validation.IsDNS1123Subdomain(kind.Group), validation.IsDNS1035Label(strings.ToLower(kind.Kind))...)
}

// KindsOf returns the kinds of controllers, in the form that New takes.
func KindsOf(controllers ...reconcile.Controller) []string {
	names := make([]string, len(controllers))
	for i, c := range controllers {
		kind := c.Kind()
		names[i] = kind.GroupVersion().String() + "/" + kind.Kind
	}
	return names
}

// checkKinds refuses a kind that is neither "Kind" nor "version/Kind" nor "group/version/Kind".
func checkKinds(kinds []string) error {
	if len(kinds) == 0 {
		return errors.New("temporary patches: no kinds: name the kinds that can be patched")
	}
	for _, kind := range kinds {
		parts := strings.Split(kind, "/")
		if len(parts) > 3 || slices.Contains(parts, "") {
			return fmt.Errorf("temporary patches: kind %q: not valid: write Kind, group/version/Kind, or version/Kind for the core group", kind)
		}
	}
	return nil
}

// checkTarget returns what is wrong with the target that a patch names.
func (c *Controller) checkTarget(spec TemporaryPatchSpec) error {
	var missing []string
	for field, value := range map[string]string{"spec.apiVersion": spec.APIVersion, "spec.kind": spec.Kind, "spec.name": spec.Name} {
		if value == "" {
			missing = append(missing, field)
		}
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		return request.Configuration("%s: missing: name the resource that is to be patched", strings.Join(missing, ", "))
	}
	if !c.patchable(spec) {
		return request.Configuration("spec.kind: %s of %s can't be patched: choose one of %s", spec.Kind, spec.APIVersion, strings.Join(c.kinds, ", "))
	}
	return nil
}

func (c *Controller) patchable(spec TemporaryPatchSpec) bool {
	return slices.Contains(c.kinds, spec.Kind) || slices.Contains(c.kinds, spec.APIVersion+"/"+spec.Kind)
}

// checkScope refuses targets that can't be in the namespace of a patch.
func (c *Controller) checkScope(ctx context.Context, spec TemporaryPatchSpec) error {
	scope, err := c.manager.Port().Scope(ctx, schema.FromAPIVersionAndKind(spec.APIVersion, spec.Kind))
	if err != nil {
		return fmt.Errorf("target %s %s: %w", spec.Kind, spec.Name, err)
	}
	if scope == deploy.ClusterScoped {
		return request.Configuration("spec.kind: a %s is cluster-scoped: only resources in the patch's namespace can be patched", spec.Kind)
	}
	return nil
}
