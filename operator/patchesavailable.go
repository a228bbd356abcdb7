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
// available. Their definition is often installed together with the operator, moments after it.
const (
	firstPatchLook   = 5 * time.Second
	longestPatchLook = time.Minute
)

var accessReviews = schema.GroupVersionResource{Group: "authorization.k8s.io", Version: "v1", Resource: "selfsubjectaccessreviews"}

// errNoDefinition is the obstacle while the CustomResourceDefinition isn't installed, errNoRight while the operator lacks
// rights.
var (
	errNoDefinition = errors.New("their CustomResourceDefinition isn't installed")
	errNoRight      = errors.New("grant that, or switch temporary patches off by operator.WithoutTemporaryPatches")
)

// availability finds out whether temporary patches can be served, by requests that don't fail without the definition or
// a right.
type availability struct {
	kind       schema.GroupVersionKind
	resource   string   // the plural
	namespaces []string // "" for all
	port       deploy.Port
	reviews    dynamic.ResourceInterface
	logger     *slog.Logger
}

// await returns true as soon as patches can be served, false when ctx ends before. It logs each obstacle once.
func (a *availability) await(ctx context.Context) bool {
	logged := ""
	backoff := wait.Backoff{Duration: firstPatchLook, Factor: 2, Steps: 10, Cap: longestPatchLook}
	err := backoff.DelayFunc().Until(ctx, true, true, func(ctx context.Context) (bool, error) {
		err := a.obstacle(ctx)
		if err != nil && err.Error() != logged && ctx.Err() == nil {
			logged = err.Error()
			a.logger.Log(ctx, severity(err), "temporary patches aren't available, waiting", "kind", a.kind.Kind, "version", a.kind.GroupVersion().String(), "reason", err)
		}
		return err == nil, ctx.Err()
	})
	return err == nil
}

// severity returns the level at which an obstacle is logged. If the definition is missing, nobody uses patches; if
// rights are missing, somebody may. Package cluster logs when the API server doesn't answer.
func severity(err error) slog.Level {
	switch {
	case errors.Is(err, errNoDefinition):
		return slog.LevelInfo
	case errors.Is(err, errNoRight):
		return slog.LevelWarn
	}
	return slog.LevelDebug
}

// obstacle returns why patches can't be served, nil if they can.
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

// patchRights are the rights to serve patches. The verb patch is for the finalizer and the status.
var patchRights = []struct {
	subresource string
	verbs       []string
}{
	{"", []string{"get", "list", "watch", "patch"}},
	{"status", []string{"patch"}},
}

// refused describes which of the rights are missing in a namespace, or in all namespaces ("").
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

// allowed asks for one right. Without the right to ask it returns true, and the requests themselves will fail.
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
