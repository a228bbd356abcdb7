package traps

import (
	"context"
	"fmt"

	"github.com/operkit/operkit/tools/bench/internal/plane"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// written: the rendered objects have the same meaning as the stored ones, but another form. The quantity is rendered as
// "1000m" and the ports without a protocol, and somebody has reordered the list of variables. The operator was
// restarted after it had created the children, so it remembers nothing about them.
func written(ctx context.Context, s *scene) (answer, error) {
	if err := s.reconcile(ctx, 1); err != nil {
		return answer{}, err
	}
	if err := s.reorder(ctx); err != nil {
		return answer{}, err
	}
	if err := s.reconcile(ctx, reconciles-1); err != nil {
		return answer{}, err
	}
	surplus, err := s.surplus(ctx, s.restarted)
	if err != nil {
		return answer{}, err
	}
	deployment, err := s.deployment(ctx)
	if err != nil {
		return answer{}, err
	}
	web, _ := container(deployment, "web")
	return answer{len(surplus) == 0, fmt.Sprintf(
		`rendered: cpu "1000m", ports without protocol, variables [SIZE NAME]; stored: cpu %q, protocol %q, variables %v; `+
			`in a start and %d reconciles, for a ConfigMap that did change, beside that one %s`,
		web.Resources.Requests.Cpu().String(), web.Ports[0].Protocol, variables(deployment), reconciles, counted(surplus))}, nil
}

// reorder swaps the container's variables as another field manager.
func (s *scene) reorder(ctx context.Context) error {
	before, err := s.deployment(ctx)
	if err != nil {
		return err
	}
	if names := variables(before); len(names) != 2 {
		return fmt.Errorf("the container's variables are %v, not two", names)
	}
	patch := `[{"op":"move","from":"/spec/template/spec/containers/0/env/1","path":"/spec/template/spec/containers/0/env/0"}]`
	_, err = s.children.AppsV1().Deployments(plane.Namespace).
		Patch(ctx, s.bundle, types.JSONPatchType, []byte(patch), metav1.PatchOptions{FieldManager: others})
	return err
}
