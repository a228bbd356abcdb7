package operator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/operkit/operkit/deploy"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
)

// firstPatchLook and longestPatchLook are the shortest and the longest time between two checks whether patches are
// available. The shortest is short because the definition of patches is often installed moments after the operator.
const (
	firstPatchLook   = 5 * time.Second
	longestPatchLook = time.Minute
)

var accessReviews = schema.GroupVersionResource{Group: "authorization.k8s.io", Version: "v1", Resource: "selfsubjectaccessreviews"}

// errNoDefinition is the obstacle while the CustomResourceDefinition isn't installed, errNoRight the obstacle while the
// operator lacks rights.
var (
	errNoDefinition = errors.New("their CustomResourceDefinition isn't installed")
	errNoRight      = errors.New("grant these rights, or switch temporary patches off by operator.WithoutTemporaryPatches")
)

// availability finds out whether temporary patches can be served. Its requests succeed even if the definition or a
// right is missing.
type availability struct {
	kind       schema.GroupVersionKind
	resource   string   // the plural name
	namespaces []string // "" for all
	port       deploy.Port
	reviews    dynamic.ResourceInterface
	logger     *slog.Logger
}

// await returns true as soon as patches can be served, or false if ctx ends first. It logs each obstacle once.
func (a *availability) await(ctx context.Context) bool {
	logged := ""
	backoff := wait.Backoff{Duration: firstPatchLook, Factor: 2, Steps: 10, Cap: longestPatchLook}
	err := backoff.DelayFunc().Until(ctx, true, true, func(ctx context.Context) (bool, error) {
		err := a.obstacle(ctx)
		if err != nil && err.Error() != logged && ctx.Err() == nil {
			logged = err.Error()
			a.logger.Log(ctx, severity(err), "temporary patches aren't available yet", "kind", a.kind.Kind, "version", a.kind.GroupVersion().String(), "reason", err)
		}
		return err == nil, ctx.Err()
	})
	return err == nil
}

// severity returns the level at which an obstacle is logged. If the definition is missing, nobody uses patches; if
// rights are missing, somebody may use patches. Other errors get the level debug: if the API server doesn't answer,
// package cluster logs that.
func severity(err error) slog.Level {
	switch {
	case errors.Is(err, errNoDefinition):
		return slog.LevelInfo
	case errors.Is(err, errNoRight):
		return slog.LevelWarn
	}
	return slog.LevelDebug
}

// obstacle returns the reason why patches can't be served, or nil if they can.
func (a *availability) obstacle(ctx context.Context) error {
	kinds, err := a.port.Kinds(ctx, a.kind.Kind)
	if !slices.ContainsFunc(kinds, func(kind schema.GroupVersionKind) bool { return kind.GroupKind() == a.kind.GroupKind() }) {
		return cmp.Or(err, errNoDefinition)
	}
	var missing []string
	for _, namespace := range a.namespaces {
		for _, right := range patchRights {
			refused, err := a.refused(ctx, namespace, right.subresource, right.verbs)
			if err != nil {
				return err
			}
			missing = append(missing, refused...)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("the operator may not %s: %w", strings.Join(missing, ", "), errNoRight)
	}
	return nil
}

// patchRights are the rights that serving patches needs. The verb patch is for the finalizer and the status.
var patchRights = []struct {
	subresource string
	verbs       []string
}{
	{"", []string{"get", "list", "watch", "patch"}},
	{"status", []string{"patch"}},
}

// refused returns a text with the verbs that the operator may not use in a namespace, or in all namespaces ("").
func (a *availability) refused(ctx context.Context, namespace, subresource string, verbs []string) ([]string, error) {
	var refused []string
	for _, verb := range verbs {
		allowed, err := a.allowed(ctx, map[string]any{
			"verb": verb, "group": a.kind.Group, "resource": a.resource, "subresource": subresource, "namespace": namespace,
		})
		if err != nil {
			return nil, err
		}
		if !allowed {
			refused = append(refused, verb)
		}
	}
	if len(refused) == 0 {
		return nil, nil
	}
	text := strings.Join(refused, "/") + " " + a.resource + "." + a.kind.Group
	if subresource != "" {
		text += "/" + subresource
	}
	if namespace != metav1.NamespaceAll {
		text += " in namespace " + namespace
	}
	return []string{text}, nil
}

// allowed asks the API server whether the operator has a right. If the operator may not ask, allowed returns true; if
// the right is missing, requests fail later.
func (a *availability) allowed(ctx context.Context, attributes map[string]any) (bool, error) {
	answer, err := a.reviews.Create(ctx, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": accessReviews.GroupVersion().String(), "kind": "SelfSubjectAccessReview",
		"spec": map[string]any{"resourceAttributes": attributes},
	}}, metav1.CreateOptions{})
	if apierrors.IsForbidden(err) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("rights of the operator: %w", err)
	}
	allowed, _, err := unstructured.NestedBool(answer.Object, "status", "allowed")
	return allowed, err
}
