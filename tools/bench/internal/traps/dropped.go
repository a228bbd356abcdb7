package traps

import (
	"context"
	"fmt"
	"slices"
)

// droppedField: the second release no longer gives the container the variable SIZE.
func droppedField(ctx context.Context, s *scene) (answer, error) {
	if err := s.reconcile(ctx, 1); err != nil {
		return answer{}, err
	}
	deployment, err := s.deployment(ctx)
	if err != nil {
		return answer{}, err
	}
	names := variables(deployment)
	return answer{!slices.Contains(names, "SIZE"), fmt.Sprintf("with the new release the container's variables are %v", names)}, nil
}

// droppedChild: the second release no longer has the ConfigMap of the size.
func droppedChild(ctx context.Context, s *scene) (answer, error) {
	if err := s.reconcile(ctx, 1); err != nil {
		return answer{}, err
	}
	for _, o := range s.descendants() {
		live, err := s.metadataOf(ctx, o)
		switch {
		case err != nil:
			return answer{}, err
		case o.what == "ConfigMap of the size" && live != nil:
			return answer{false, fmt.Sprintf("with the new release ConfigMap %s is still there", o.name)}, nil
		case o.what != "ConfigMap of the size" && live == nil:
			return answer{false, fmt.Sprintf("with the new release there is no %s any more, which it renders", o.what)}, nil
		}
	}
	return answer{true, "with the new release there is no ConfigMap of the size; the other children are there"}, nil
}
