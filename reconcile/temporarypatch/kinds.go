package temporarypatch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// KindsOf are the kinds of controllers, in the form that New takes: their resources can be patched.
func KindsOf(controllers ...reconcile.Controller) []string {
	names := make([]string, len(controllers))
	for i, c := range controllers {
		kind := c.Kind()
		names[i] = kind.GroupVersion().String() + "/" + kind.Kind
	}
	return names
}

// checkKinds refuses what is neither "Kind" nor "version/Kind" nor "group/version/Kind".
func checkKinds(kinds []string) error {
	if len(kinds) == 0 {
		return errors.New("temporary patches: no kind can be patched: name those that can")
	}
	for _, kind := range kinds {
		parts := strings.Split(kind, "/")
		if len(parts) > 3 || slices.Contains(parts, "") {
			return fmt.Errorf("temporary patches: %q is no kind: write Kind, group/version/Kind, or version/Kind for the core group", kind)
		}
	}
	return nil
}

// checkTarget tells what is wrong with the target that a patch names (spec: patches 2, 5, mistakes 4 and
// 18).
func (c *Controller) checkTarget(spec TemporaryPatchSpec) error {
	var missing []string
	for field, value := range map[string]string{"spec.apiVersion": spec.APIVersion, "spec.kind": spec.Kind, "spec.name": spec.Name} {
		if value == "" {
			missing = append(missing, field)
		}
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		return reconcile.Configuration("%s: missing: name the resource that is to be patched", strings.Join(missing, ", "))
	}
	if !c.patchable(spec) {
		return reconcile.Configuration("spec.kind: %s of %s can't be patched: choose one of %s", spec.Kind, spec.APIVersion, strings.Join(c.kinds, ", "))
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
		return reconcile.Configuration("spec.kind: a %s has no namespace: only what is beside the patch can be patched", spec.Kind)
	}
	return nil
}
