package main

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// wanted is a rendered object, as a reconciler has it, with the function that sets its fields in the live object.
type wanted struct {
	// named returns an object with no more than its name.
	named func() client.Object
	// mutate sets the wanted fields in an object, and doesn't change fields that the API server fills in. The values
	// are shared with the rendered object and not copied, since rendering isn't measured.
	mutate func(obj client.Object) error
}

// wantedAll returns the objects as their Go types.
func wantedAll(objects []*unstructured.Unstructured) ([]wanted, error) {
	all := make([]wanted, 0, len(objects))
	for _, obj := range objects {
		rendered, err := scheme.Scheme.New(obj.GroupVersionKind())
		if err != nil {
			return nil, err
		}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(obj.Object, rendered, true); err != nil {
			return nil, fmt.Errorf("%s %s: %w", obj.GetKind(), obj.GetName(), err)
		}
		w, err := wantedOf(rendered)
		if err != nil {
			return nil, err
		}
		all = append(all, w)
	}
	return all, nil
}

func wantedOf(rendered runtime.Object) (wanted, error) {
	switch want := rendered.(type) {
	case *corev1.ConfigMap:
		return of(want, func(live *corev1.ConfigMap) { live.Data = want.Data }), nil
	case *corev1.Service:
		return of(want, func(live *corev1.Service) {
			live.Spec.Type, live.Spec.Selector, live.Spec.Ports = want.Spec.Type, want.Spec.Selector, want.Spec.Ports
		}), nil
	case *corev1.ServiceAccount:
		return of(want, func(live *corev1.ServiceAccount) {
			live.AutomountServiceAccountToken = want.AutomountServiceAccountToken
		}), nil
	case *appsv1.Deployment:
		return of(want, func(live *appsv1.Deployment) { mutateDeployment(want, live) }), nil
	case *rbacv1.Role:
		return of(want, func(live *rbacv1.Role) { live.Rules = want.Rules }), nil
	case *rbacv1.RoleBinding:
		return of(want, func(live *rbacv1.RoleBinding) { live.RoleRef, live.Subjects = want.RoleRef, want.Subjects }), nil
	}
	return wanted{}, fmt.Errorf("%T: nothing says how it is mutated", rendered)
}

// pointer is a pointer to a Go type of objects.
type pointer[T any] interface {
	client.Object
	*T
}

func of[T any, P pointer[T]](want P, mutate func(live P)) wanted {
	return wanted{
		named: func() client.Object {
			obj := P(new(T))
			obj.SetName(want.GetName())
			obj.SetNamespace(want.GetNamespace())
			return obj
		},
		mutate: func(obj client.Object) error {
			live, ok := obj.(P)
			if !ok {
				return fmt.Errorf("%T isn't %T", obj, want)
			}
			live.SetLabels(with(live.GetLabels(), want.GetLabels()))
			mutate(live)
			return nil
		},
	}
}

// with adds values to a map.
func with(live, want map[string]string) map[string]string {
	if live == nil {
		live = make(map[string]string, len(want))
	}
	for key, value := range want {
		live[key] = value
	}
	return live
}

func mutateDeployment(want, live *appsv1.Deployment) {
	if live.Spec.Selector == nil {
		live.Spec.Selector = &metav1.LabelSelector{MatchLabels: want.Spec.Selector.MatchLabels}
	}
	live.Spec.Replicas = want.Spec.Replicas
	template, rendered := &live.Spec.Template, &want.Spec.Template
	template.Labels = with(template.Labels, rendered.Labels)
	template.Annotations = with(template.Annotations, rendered.Annotations)
	template.Spec.ServiceAccountName = rendered.Spec.ServiceAccountName
	template.Spec.Volumes = rendered.Spec.Volumes
	if len(template.Spec.Containers) != len(rendered.Spec.Containers) {
		template.Spec.Containers = make([]corev1.Container, len(rendered.Spec.Containers))
	}
	for i := range rendered.Spec.Containers {
		from, to := &rendered.Spec.Containers[i], &template.Spec.Containers[i]
		to.Name, to.Image, to.ImagePullPolicy = from.Name, from.Image, from.ImagePullPolicy
		to.Args, to.Env, to.EnvFrom, to.Ports = from.Args, from.Env, from.EnvFrom, from.Ports
		to.ReadinessProbe, to.LivenessProbe = from.ReadinessProbe, from.LivenessProbe
		to.Resources, to.SecurityContext, to.VolumeMounts = from.Resources, from.SecurityContext, from.VolumeMounts
	}
}
