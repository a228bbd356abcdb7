// Command patched is an operator whose objects can be changed temporarily for single resources, by temporary patches.
// Every operator serves these patches: the only code for them here is the names of the objects.
package main

import (
	"context"

	"github.com/operkit/operkit/operator"
	"github.com/operkit/operkit/reconcile"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime/schema"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
)

// Cache controls resources of the kind Cache.
type Cache struct{}

// Kind implements reconcile.Controller.
func (Cache) Kind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "examples.operkit.dev", Version: "v1", Kind: "Cache"}
}

// Setup implements reconcile.Controller: a server, with the memory that every cache gets, and the way to it. They are
// components of their own, so a patch that fails for one of them leaves the other alone.
func (Cache) Setup(_ context.Context, s *reconcile.Session) error {
	var cache struct {
		Spec struct {
			Image string `json:"image"`
		} `json:"spec"`
	}
	if err := s.Into(&cache); err != nil {
		return err
	}
	s.Add("store").Add("server", server(s, cache.Spec.Image))
	s.Add("door").Add("service", corev1ac.Service(s.Name(), s.Namespace()).WithSpec(corev1ac.ServiceSpec().
		WithSelector(labels(s)).WithPorts(corev1ac.ServicePort().WithPort(11211))))
	return nil
}

func server(s *reconcile.Session, image string) *appsv1ac.DeploymentApplyConfiguration {
	container := corev1ac.Container().WithName("memcached").WithImage(image).WithResources(corev1ac.ResourceRequirements().
		WithLimits(corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("64Mi")}))
	return appsv1ac.Deployment(s.Name(), s.Namespace()).WithSpec(appsv1ac.DeploymentSpec().
		WithSelector(metav1ac.LabelSelector().WithMatchLabels(labels(s))).
		WithTemplate(corev1ac.PodTemplateSpec().WithLabels(labels(s)).WithSpec(corev1ac.PodSpec().WithContainers(container))))
}

func labels(s *reconcile.Session) map[string]string { return map[string]string{"cache": s.Name()} }

func main() {
	op := operator.New("patched-operator")
	// An annotation of each object has the name that patches use for it.
	op.Control(Cache{}, reconcile.NameObjects())
	op.Main()
}
