package main

import (
	"context"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	benchv1 "github.com/operkit/operkit/tools/bench/api/v1"
	"github.com/operkit/operkit/tools/bench/release"
)

// current is the release that runs.
var current = release.Current()

// BundleReconciler reconciles Bundles.
type BundleReconciler struct {
	client.Client
	Scheme *runtime.Scheme
}

// SetupWithManager adds the controller of Bundles to the manager.
func (r *BundleReconciler) SetupWithManager(mgr ctrl.Manager) error {
	b := ctrl.NewControllerManagedBy(mgr).
		For(&benchv1.Bundle{}).
		Owns(&corev1.ServiceAccount{}).
		Owns(&corev1.ConfigMap{}).
		Owns(&corev1.Service{}).
		Owns(&appsv1.Deployment{}).
		Named("bundle").
		WithOptions(controller.Options{MaxConcurrentReconciles: 8})
	if current.Token {
		b.Owns(&corev1.Secret{})
	}
	return b.Complete(r)
}

// Reconcile creates or updates the children of one Bundle, and sets the condition Ready when all are up to date.
func (r *BundleReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	log := logf.FromContext(ctx)
	bundle := &benchv1.Bundle{}
	if err := r.Get(ctx, req.NamespacedName, bundle); err != nil {
		if apierrors.IsNotFound(err) {
			log.Info("Bundle not found, it must have been deleted")
			return ctrl.Result{}, nil
		}
		log.Error(err, "Failed to get Bundle")
		return ctrl.Result{}, err
	}

	if len(bundle.Status.Conditions) == 0 {
		if err := r.updateReady(ctx, bundle, metav1.ConditionUnknown, "Reconciling", "Starting reconciliation"); err != nil {
			return ctrl.Result{}, err
		}
		// With the old resourceVersion, the next update would be a conflict.
		if err := r.Get(ctx, req.NamespacedName, bundle); err != nil {
			log.Error(err, "Failed to get Bundle again")
			return ctrl.Result{}, err
		}
	}

	steps := []func(context.Context, *benchv1.Bundle) (bool, error){
		r.reconcileServiceAccount,
		r.reconcileMessage,
	}
	if current.Size {
		steps = append(steps, r.reconcileSize)
	}
	steps = append(steps, r.reconcileService, r.reconcileDeployment)
	if current.Token {
		steps = append(steps, r.reconcileToken)
	}
	written := false
	for _, step := range steps {
		stepWritten, err := step(ctx, bundle)
		if err != nil {
			return ctrl.Result{}, err
		}
		written = written || stepWritten
	}
	if written {
		// The events of these writes cause the next reconcile, which checks the children again and then writes the
		// status.
		return ctrl.Result{RequeueAfter: time.Minute}, nil
	}
	return ctrl.Result{}, r.updateReady(ctx, bundle, metav1.ConditionTrue, "Applied", "All children have been applied")
}

func (r *BundleReconciler) updateReady(
	ctx context.Context, bundle *benchv1.Bundle, status metav1.ConditionStatus, reason, message string,
) error {
	meta.SetStatusCondition(&bundle.Status.Conditions, metav1.Condition{
		Type:               benchv1.ConditionReady,
		Status:             status,
		Reason:             reason,
		Message:            message,
		ObservedGeneration: bundle.Generation,
	})
	if err := r.Status().Update(ctx, bundle); err != nil {
		logf.FromContext(ctx).Error(err, "Failed to update the status of Bundle")
		return err
	}
	return nil
}

// getOrCreate gets the child into found, and creates the desired child if it doesn't exist. It reports whether it has
// created the child.
func (r *BundleReconciler) getOrCreate(ctx context.Context, bundle *benchv1.Bundle, desired, found client.Object) (bool, error) {
	log := logf.FromContext(ctx).WithValues("child", client.ObjectKeyFromObject(desired))
	err := r.Get(ctx, client.ObjectKeyFromObject(desired), found)
	if err == nil {
		return false, nil
	}
	if !apierrors.IsNotFound(err) {
		log.Error(err, "Failed to get child")
		return false, err
	}
	if err := ctrl.SetControllerReference(bundle, desired, r.Scheme); err != nil {
		log.Error(err, "Failed to define child")
		return false, err
	}
	log.Info("Creating child")
	if err := r.Create(ctx, desired); err != nil {
		log.Error(err, "Failed to create child")
		return false, err
	}
	return true, nil
}

func (r *BundleReconciler) update(ctx context.Context, child client.Object) (bool, error) {
	if err := r.Update(ctx, child); err != nil {
		logf.FromContext(ctx).Error(err, "Failed to update child", "child", client.ObjectKeyFromObject(child))
		return false, err
	}
	return true, nil
}

func (r *BundleReconciler) reconcileServiceAccount(ctx context.Context, bundle *benchv1.Bundle) (bool, error) {
	desired := &corev1.ServiceAccount{ObjectMeta: childMeta(bundle, bundle.Name)}
	return r.getOrCreate(ctx, bundle, desired, &corev1.ServiceAccount{})
}

func (r *BundleReconciler) reconcileMessage(ctx context.Context, bundle *benchv1.Bundle) (bool, error) {
	return r.reconcileConfigMap(ctx, bundle, "message", bundle.Spec.Message)
}

func (r *BundleReconciler) reconcileSize(ctx context.Context, bundle *benchv1.Bundle) (bool, error) {
	return r.reconcileConfigMap(ctx, bundle, "size", strconv.Itoa(int(bundle.Spec.Size)))
}

func (r *BundleReconciler) reconcileConfigMap(ctx context.Context, bundle *benchv1.Bundle, key, value string) (bool, error) {
	desired := &corev1.ConfigMap{
		ObjectMeta: childMeta(bundle, bundle.Name+"-"+key),
		Data:       map[string]string{key: value},
	}
	found := &corev1.ConfigMap{}
	created, err := r.getOrCreate(ctx, bundle, desired, found)
	if err != nil || created || equality.Semantic.DeepEqual(found.Data, desired.Data) {
		return created, err
	}
	found.Data = desired.Data
	return r.update(ctx, found)
}

// reconcileToken creates the Secret of a Bundle that has none. Its name is generated, so it is found by its labels.
func (r *BundleReconciler) reconcileToken(ctx context.Context, bundle *benchv1.Bundle) (bool, error) {
	log := logf.FromContext(ctx)
	secrets := &corev1.SecretList{}
	if err := r.List(ctx, secrets, client.InNamespace(bundle.Namespace), client.MatchingLabels(labelsFor(bundle))); err != nil {
		log.Error(err, "Failed to list Secrets")
		return false, err
	}
	if len(secrets.Items) > 0 {
		return false, nil
	}
	desired := &corev1.Secret{
		ObjectMeta: childMeta(bundle, ""),
		StringData: map[string]string{"token": bundle.Name},
	}
	desired.GenerateName = bundle.Name + "-token-"
	if err := ctrl.SetControllerReference(bundle, desired, r.Scheme); err != nil {
		log.Error(err, "Failed to define child")
		return false, err
	}
	log.Info("Creating child")
	if err := r.Create(ctx, desired); err != nil {
		log.Error(err, "Failed to create child")
		return false, err
	}
	return true, nil
}

func (r *BundleReconciler) reconcileService(ctx context.Context, bundle *benchv1.Bundle) (bool, error) {
	desired := &corev1.Service{
		ObjectMeta: childMeta(bundle, bundle.Name),
		Spec: corev1.ServiceSpec{
			Selector: selectorFor(bundle),
			Ports:    []corev1.ServicePort{{Name: "http", Port: 80, TargetPort: intstr.FromString("http")}},
		},
	}
	return r.getOrCreate(ctx, bundle, desired, &corev1.Service{})
}

func (r *BundleReconciler) reconcileDeployment(ctx context.Context, bundle *benchv1.Bundle) (bool, error) {
	desired := deploymentFor(bundle)
	found := &appsv1.Deployment{}
	created, err := r.getOrCreate(ctx, bundle, desired, found)
	if err != nil || created {
		return created, err
	}
	have, want := &found.Spec.Template.Spec.Containers[0], &desired.Spec.Template.Spec.Containers[0]
	if *found.Spec.Replicas == *desired.Spec.Replicas && equality.Semantic.DeepEqual(have.Env, want.Env) {
		return false, nil
	}
	found.Spec.Replicas, have.Env = desired.Spec.Replicas, want.Env
	return r.update(ctx, found)
}

func deploymentFor(bundle *benchv1.Bundle) *appsv1.Deployment {
	container := corev1.Container{
		Name:  "web",
		Image: "registry.example/bundle:1.0",
		Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}},
		Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
			corev1.ResourceCPU:    resource.MustParse(current.CPU),
			corev1.ResourceMemory: resource.MustParse("64Mi"),
		}},
	}
	if current.Size {
		container.Env = append(container.Env, corev1.EnvVar{Name: "SIZE", Value: strconv.Itoa(int(bundle.Spec.Size))})
	}
	if current.Name {
		container.Env = append(container.Env, corev1.EnvVar{Name: "NAME", Value: bundle.Name})
	}
	return &appsv1.Deployment{
		ObjectMeta: childMeta(bundle, bundle.Name),
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(0)),
			Selector: &metav1.LabelSelector{MatchLabels: selectorFor(bundle)},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labelsFor(bundle)},
				Spec: corev1.PodSpec{
					ServiceAccountName: bundle.Name,
					Containers:         []corev1.Container{container},
				},
			},
		},
	}
}

func childMeta(bundle *benchv1.Bundle, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: bundle.Namespace, Name: name, Labels: labelsFor(bundle)}
}

func selectorFor(bundle *benchv1.Bundle) map[string]string {
	return map[string]string{"app.kubernetes.io/instance": bundle.Name}
}

func labelsFor(bundle *benchv1.Bundle) map[string]string {
	return map[string]string{"app.kubernetes.io/name": "bundle", "app.kubernetes.io/instance": bundle.Name}
}
