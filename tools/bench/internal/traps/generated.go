package traps

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/operkit/operkit/tools/bench/internal/plane"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// delay is how long the events of the operator's watch are delayed.
const delay = 2 * time.Second

// generated: the Bundle is created and edited twice before the operator's watch shows the child, whose name is
// generated.
func generated(ctx context.Context, s *scene) (answer, error) {
	// Another Bundle first: after that the operator has started all its watches.
	if err := (&scene{stage: s.stage, bundle: "before-" + s.bundle}).create(ctx); err != nil {
		return answer{}, err
	}
	mark, err := s.mark(ctx)
	if err != nil {
		return answer{}, err
	}
	generation, err := s.hurry(ctx)
	if err != nil {
		return answer{}, err
	}
	meanwhile, err := s.writes(ctx, mark)
	if err != nil {
		return answer{}, err
	}
	if err := s.awaitReady(ctx, generation); err != nil {
		return answer{}, err
	}
	if err := s.awaitRest(ctx); err != nil {
		return answer{}, err
	}
	there, err := s.tokens(ctx)
	return answer{there == 1, fmt.Sprintf(
		"created, and edited twice while its watch of Secrets showed nothing for %s, in which it wrote the status %d times; "+
			"Secrets with a generated name: %d", delay, len(meanwhile.Of("bundles.bench.operkit.dev")), there)}, err
}

// hurry creates and edits the Bundle while events of Secrets are delayed, and returns its generation.
func (s *scene) hurry(ctx context.Context) (generation int64, err error) {
	s.secrets.hold()
	defer s.secrets.open()
	if err := s.post(ctx); err != nil {
		return 0, err
	}
	if err := await(ctx, enough, func(ctx context.Context) (bool, error) {
		there, err := s.tokens(ctx)
		return there > 0, err
	}, func() string { return "there is no Secret" }); err != nil {
		return 0, err
	}
	for range 2 {
		if generation, err = s.reword(ctx); err != nil {
			return 0, err
		}
		if err := pause(ctx, delay/2); err != nil {
			return 0, err
		}
	}
	if s.secrets.held() == 0 {
		return 0, errors.New("nothing had to be held back: the operator doesn't watch Secrets, or not through the proxy")
	}
	return generation, nil
}

// tokens returns the number of Secrets of the Bundle.
func (s *scene) tokens(ctx context.Context) (int, error) {
	ofBundle := metav1.ListOptions{LabelSelector: "app.kubernetes.io/instance=" + s.bundle}
	list, err := s.children.CoreV1().Secrets(plane.Namespace).List(ctx, ofBundle)
	if err != nil {
		return 0, err
	}
	return len(list.Items), nil
}
