package temporarypatch

import (
	"context"
	"fmt"

	"github.com/operkit/operkit/smp"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Apply implements reconcile.Patch. An error is about an object that matches (spec: patches 19-21, mistakes
// 8, 13 and 14).
func (p *patch) Apply(ctx context.Context, component, object string, content map[string]any) (map[string]any, bool, error) {
	contents, at := p.bodies.find(component, object)
	if len(contents) == 0 {
		p.run.note(component, object, nil, nil)
		return content, false, nil
	}
	patched, err := p.applied(ctx, contents, content)
	p.run.note(component, object, at, err)
	if err != nil {
		return nil, true, err
	}
	return patched, true, nil
}

func (p *patch) applied(ctx context.Context, contents []any, object map[string]any) (map[string]any, error) {
	kind, err := p.patchType()
	if err != nil {
		return nil, err
	}
	var known smp.Schema
	if kind == smp.StrategicMerge {
		apiVersion, _ := object["apiVersion"].(string)
		name, _ := object["kind"].(string)
		if known, err = p.controller.schemas.of(ctx, p.view, schema.FromAPIVersionAndKind(apiVersion, name), p.controller.options); err != nil {
			return nil, err
		}
	}
	for _, content := range contents {
		if object, err = (smp.Patch{Type: kind, Body: content}).Apply(object, known, p.controller.options.merge...); err != nil {
			return nil, err
		}
	}
	return object, nil
}

func (p *patch) patchType() (smp.Type, error) {
	switch p.spec.PatchType {
	case Strategic, StrategicMerge:
		return smp.StrategicMerge, nil
	case JSON, JSON6902:
		return smp.JSON6902, nil
	}
	return "", fmt.Errorf("spec.patchType: %q is none: choose %s or %s", p.spec.PatchType, Strategic, JSON)
}
