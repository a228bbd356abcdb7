package main

import (
	"context"

	v1 "github.com/operkit/operkit/examples/memcached/api/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// newScheme knows the types that the Reconciler handles.
func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	group := v1.MemcachedKind.GroupVersion()
	scheme.AddKnownTypes(group, &v1.Memcached{}, &v1.MemcachedList{})
	metav1.AddToGroupVersion(scheme, group)
	return scheme, appsv1.AddToScheme(scheme)
}

// MemcachedReconciler is as it was before the move.
type MemcachedReconciler struct {
	client.Client
}

// SetupWithManager has a manager call it.
func (r *MemcachedReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).For(&v1.Memcached{}).Owns(&appsv1.Deployment{}).Complete(r)
}

// Reconcile brings the Deployment of a Memcached to what that says.
func (r *MemcachedReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var cache v1.Memcached
	if err := r.Get(ctx, req.NamespacedName, &cache); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: cache.Namespace, Name: cache.Name}}
	_, err := controllerutil.CreateOrUpdate(ctx, r.Client, deployment, func() error {
		labels := map[string]string{"memcached": cache.Name}
		metav1.SetMetaDataAnnotation(&deployment.ObjectMeta, "examples.operkit.dev/made-by", "a Reconciler")
		deployment.Spec.Replicas = &cache.Spec.Size
		deployment.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
		deployment.Spec.Template.Labels = labels
		if len(deployment.Spec.Template.Spec.Containers) == 0 {
			deployment.Spec.Template.Spec.Containers = make([]corev1.Container, 1)
		}
		container := &deployment.Spec.Template.Spec.Containers[0]
		container.Name, container.Image = "memcached", image
		return controllerutil.SetControllerReference(&cache, deployment, r.Scheme())
	})
	return ctrl.Result{}, err
}

// image is what Memcacheds run, whoever controls them.
const image = "memcached:1.6"
