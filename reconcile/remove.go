package reconcile

import (
	"context"
	"errors"
	"strings"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Remove deletes objects that the resource owns and answers nil once all are gone; until
// then a Precondition that names those still there. Objects of somebody else are left alone
// and not waited for. It is meant for Finalize.
func (s *Session) Remove(ctx context.Context, objects ...any) error {
	plain := make([]*unstructured.Unstructured, 0, len(objects))
	for _, value := range objects {
		obj, err := toObject(value)
		if err != nil {
			return err
		}
		plain = append(plain, obj)
	}
	_, err := s.removeAll(ctx, plain)
	return err
}

// removeAll deletes what is the resource's among objects, and tells what isn't gone yet.
func (s *Session) removeAll(ctx context.Context, objects []*unstructured.Unstructured) (deploy.Results, error) {
	results, err := s.remove(ctx, objects)
	if err != nil {
		return results, err
	}
	remaining, err := s.manager.Gone(ctx, objects)
	if err != nil || len(remaining) == 0 {
		return results, err
	}
	names := make([]string, len(remaining))
	for i, ref := range remaining {
		names[i] = ref.String()
	}
	return results, Precondition("waiting until %s is gone", strings.Join(names, ", "))
}

// remove deletes those of objects that are the resource's. Of a kind that isn't served
// there are none, and to somebody else's nothing is to be done: neither is an error.
func (s *Session) remove(ctx context.Context, objects []*unstructured.Unstructured) (deploy.Results, error) {
	for _, kind := range kindsOf(objects) {
		err := s.Own(ctx, kind)
		var unknown *deploy.KindUnknownError
		if err != nil && !errors.As(err, &unknown) {
			return nil, err
		}
	}
	results, err := s.manager.Delete(ctx, objects)
	s.removing.Lock()
	s.removed = append(s.removed, results...)
	s.removing.Unlock()
	if len(results) == 0 {
		return results, err
	}
	var errs []error
	for _, result := range results {
		var owned *deploy.OwnedError
		if !errors.As(result.Err, &owned) {
			errs = append(errs, result.Err)
		}
	}
	return results, errors.Join(errs...)
}
