package provisioner

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
)

const (
	// workers is how many claims and volumes are worked on at a time.
	workers = 4
	// A failure is retried after minDelay, and then after longer and longer delays.
	minDelay, maxDelay = 10 * time.Millisecond, 5 * time.Second
)

// provisioner is a controller of claims and volumes. Its queue holds the names of both; volumes have no namespace.
type provisioner struct {
	name    string
	client  kubernetes.Interface
	claims  corelisters.PersistentVolumeClaimLister
	volumes corelisters.PersistentVolumeLister
	queue   workqueue.TypedRateLimitingInterface[cache.ObjectName]
	events  record.EventRecorder
}

// Start starts the provisioner of that name, which StorageClasses have in their field provisioner, as the user of the
// kubeconfig file. It returns at once. The provisioner waits for the API server as long as necessary, and ends with ctx.
func Start(ctx context.Context, name, kubeconfig string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return fmt.Errorf("provisioner %s: %w", name, err)
	}
	config.QPS = -1 // no client-side rate limit
	config.UserAgent = name
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("provisioner %s: %w", name, err)
	}
	go run(ctx, name, client)
	return nil
}

func run(ctx context.Context, name string, client kubernetes.Interface) {
	broadcaster := record.NewBroadcaster(record.WithContext(ctx))
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: client.CoreV1().Events("")})
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithTransform(withoutManagedFields))
	claims, volumes := factory.Core().V1().PersistentVolumeClaims(), factory.Core().V1().PersistentVolumes()
	p := &provisioner{
		name: name, client: client, claims: claims.Lister(), volumes: volumes.Lister(),
		queue:  workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[cache.ObjectName](minDelay, maxDelay)),
		events: broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: name}),
	}
	for _, informer := range []cache.SharedIndexInformer{claims.Informer(), volumes.Informer()} {
		// It fails only for an informer that has ended.
		_, _ = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    p.enqueue,
			UpdateFunc: func(_, obj any) { p.enqueue(obj) },
		})
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	for range workers {
		go p.work(ctx)
	}
	<-ctx.Done()
	p.queue.ShutDown()
}

// withoutManagedFields keeps the cache small.
func withoutManagedFields(obj any) (any, error) {
	if object, ok := obj.(metav1.Object); ok {
		object.SetManagedFields(nil)
	}
	return obj, nil
}

func (p *provisioner) enqueue(obj any) {
	if name, err := cache.ObjectToName(obj); err == nil {
		p.queue.Add(name)
	}
}

// work handles what is in the queue until the queue is shut down.
func (p *provisioner) work(ctx context.Context) {
	for {
		name, end := p.queue.Get()
		if end {
			return
		}
		if err := p.sync(ctx, name); err != nil {
			klog.ErrorS(err, "Volume provisioning failed and is retried", "object", name)
			p.queue.AddRateLimited(name)
		} else {
			p.queue.Forget(name)
		}
		p.queue.Done(name)
	}
}

// sync does what the claim or volume of that name needs now.
func (p *provisioner) sync(ctx context.Context, name cache.ObjectName) error {
	if name.Namespace == "" {
		volume, err := p.volumes.Get(name.Name)
		if err != nil {
			return ignoreNotFound(err)
		}
		return p.reclaim(ctx, volume)
	}
	claim, err := p.claims.PersistentVolumeClaims(name.Namespace).Get(name.Name)
	if err != nil {
		return ignoreNotFound(err)
	}
	if claim.Spec.VolumeName == "" {
		return p.provision(ctx, claim)
	}
	return p.expand(ctx, claim)
}

func ignoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
