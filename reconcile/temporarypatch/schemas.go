package temporarypatch

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/smp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var definitions = schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}

// schemaAge is how long the schema of a custom resource is kept, so that a patched target that is as it
// should be costs no call.
const schemaAge = 10 * time.Minute

// schemas keeps how custom resources merge (spec: patches mistake 13). It is safe for concurrent use; its
// zero value is empty.
type schemas struct {
	mu    sync.Mutex
	known map[schema.GroupVersionKind]dated
}

type dated struct {
	schema smp.Schema
	read   time.Time
}

// of returns the schema of a kind, the zero one if nobody declares it or the definitions may not be read.
func (s *schemas) of(ctx context.Context, view deploy.View, kind schema.GroupVersionKind, o options) (smp.Schema, error) {
	if own := smp.SchemaFor(kind); own.Known() {
		return own, nil
	}
	now := o.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if kept, ok := s.known[kind]; ok && now.Sub(kept.read) < schemaAge {
		return kept.schema, nil
	}
	declared, err := declaration(ctx, view, kind)
	var unknown *deploy.KindUnknownError
	var forbidden *deploy.ForbiddenError
	switch {
	case errors.As(err, &unknown), errors.As(err, &forbidden):
		o.logger.Warn("definitions can't be read: patches of custom resources replace lists whole", "kind", kind.String(), "error", err)
	case err != nil:
		return smp.Schema{}, fmt.Errorf("how a %s merges: %w", kind.Kind, err)
	}
	if s.known == nil {
		s.known = map[schema.GroupVersionKind]dated{}
	}
	s.known[kind] = dated{declared, now}
	return declared, nil
}

func declaration(ctx context.Context, view deploy.View, kind schema.GroupVersionKind) (smp.Schema, error) {
	crds, err := view.List(ctx, definitions, "", nil)
	if err != nil {
		return smp.Schema{}, err
	}
	for _, crd := range crds {
		group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
		name, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "kind")
		if group == kind.Group && name == kind.Kind {
			return smp.SchemaFromCRD(crd.Object, kind.Version)
		}
	}
	return smp.Schema{}, nil
}
