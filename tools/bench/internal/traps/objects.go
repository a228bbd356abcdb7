package traps

import (
	"context"
	"fmt"
	"strings"

	v1 "github.com/operkit/operkit/tools/bench/api/v1"
	"github.com/operkit/operkit/tools/bench/internal/plane"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// object is the Bundle or one of its children.
type object struct {
	what     string
	resource schema.GroupVersionResource
	name     string
}

// family returns the Bundle and its children.
func (s *scene) family() []object {
	return append([]object{{"Bundle", v1.GroupVersion.WithResource("bundles"), s.bundle}}, s.descendants()...)
}

// descendants returns the children.
func (s *scene) descendants() []object {
	return []object{
		{"ServiceAccount", corev1.SchemeGroupVersion.WithResource("serviceaccounts"), s.bundle},
		{"ConfigMap of the message", corev1.SchemeGroupVersion.WithResource("configmaps"), s.bundle + "-message"},
		{"ConfigMap of the size", corev1.SchemeGroupVersion.WithResource("configmaps"), s.bundle + "-size"},
		{"Service", corev1.SchemeGroupVersion.WithResource("services"), s.bundle},
		{"Deployment", appsv1.SchemeGroupVersion.WithResource("deployments"), s.bundle},
	}
}

// metadataOf returns an object's metadata, or nil if the object doesn't exist.
func (s *scene) metadataOf(ctx context.Context, o object) (*metav1.PartialObjectMetadata, error) {
	live, err := s.metadata.Resource(o.resource).Namespace(plane.Namespace).Get(ctx, o.name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return live, err
}

// patch patches an object as another field manager.
func (s *scene) patch(ctx context.Context, o object, patch string) error {
	_, err := s.metadata.Resource(o.resource).Namespace(plane.Namespace).
		Patch(ctx, o.name, types.MergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: others})
	return err
}

// deployment returns the Deployment.
func (s *scene) deployment(ctx context.Context) (*appsv1.Deployment, error) {
	return s.children.AppsV1().Deployments(plane.Namespace).Get(ctx, s.bundle, metav1.GetOptions{})
}

// container returns the container of that name in a Deployment, and reports whether there is one.
func container(deployment *appsv1.Deployment, name string) (corev1.Container, bool) {
	for _, c := range deployment.Spec.Template.Spec.Containers {
		if c.Name == name {
			return c, true
		}
	}
	return corev1.Container{}, false
}

// containers returns the names of a Deployment's containers.
func containers(deployment *appsv1.Deployment) []string {
	names := []string{}
	for _, c := range deployment.Spec.Template.Spec.Containers {
		names = append(names, c.Name)
	}
	return names
}

// variables returns the names of the container's environment variables, in order.
func variables(deployment *appsv1.Deployment) []string {
	web, _ := container(deployment, "web")
	names := []string{}
	for _, env := range web.Env {
		names = append(names, env.Name)
	}
	return names
}

// said returns a text with the Bundle's condition Ready and, unless name is empty, the first other condition whose
// message contains name.
func said(bundle *v1.Bundle, name string) string {
	var parts []string
	if bundle != nil {
		for _, c := range bundle.Status.Conditions {
			names := name != "" && strings.Contains(c.Message, name) && !strings.Contains(strings.Join(parts, ""), name)
			if c.Type == v1.ConditionReady || names {
				parts = append(parts, strings.TrimSpace(fmt.Sprintf("%s=%s (%s) %s", c.Type, c.Status, c.Reason, c.Message)))
			}
		}
	}
	if len(parts) == 0 {
		return "its status says nothing"
	}
	return "its status says " + strings.Join(parts, "; ")
}

// names reports whether a condition of a Bundle has a message that contains name.
func names(bundle *v1.Bundle, name string) bool {
	for _, c := range bundle.Status.Conditions {
		if strings.Contains(c.Message, name) {
			return true
		}
	}
	return false
}

// awaitNamed waits until the message of a condition of the Bundle contains name, but at most as long as enough. It
// returns the Bundle.
func (s *scene) awaitNamed(ctx context.Context, name string) (bundle *v1.Bundle, err error) {
	err = await(ctx, enough, func(ctx context.Context) (done bool, err error) {
		bundle, err = s.get(ctx)
		return err == nil && names(bundle, name), err
	}, func() string { return "no condition names " + name })
	if _, stuck := err.(*stuckError); stuck {
		return bundle, nil
	}
	return bundle, err
}
