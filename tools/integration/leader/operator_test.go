package leader

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/reconcile/leader"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/watch"
)

var (
	configMaps = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	secrets    = schema.GroupVersionKind{Version: "v1", Kind: "Secret"}
)

// workers is how many resources a replica works on at once, and so how many calls it has in flight.
const workers = 8

// again is after what time a resource that didn't change is looked at: what a late write has spoilt is mended then.
const again = 2 * time.Second

// standAndOperate is an operator that brings the content of ConfigMaps into Secrets while it leads.
func standAndOperate(ctx context.Context, config *rest.Config, logger *slog.Logger) error {
	lock, err := newLock(ctx, config, logger)
	if err != nil {
		return err
	}
	background, closeStore := context.WithCancel(context.WithoutCancel(ctx))
	defer closeStore()
	api, err := cluster.New(background, config, cluster.Namespaces(namespace()), cluster.Logger(logger))
	if err != nil {
		return err
	}
	engine, err := watch.New(api.View(), watch.Workers(workers), watch.Logger(logger))
	if err != nil {
		return err
	}
	if err := engine.Control(configMaps, copier{api}); err != nil {
		return err
	}
	return lock.Run(ctx, func(ctx context.Context) error {
		term, _ := leader.TermOf(ctx)
		fmt.Println("leads", term.Number)
		defer func() { closeStore(); api.Wait() }()
		return engine.Run(ctx)
	})
}

// copier brings the value of a ConfigMap into the Secret of its name. Each write carries who wrote it, and in which term.
type copier struct{ api *cluster.Cluster }

func (c copier) Reconcile(ctx context.Context, req request.Request) (request.Result, error) {
	source, err := c.api.View().Get(ctx, deploy.Ref{Kind: configMaps, Namespace: req.Key.Namespace, Name: req.Key.Name})
	if err != nil || source == nil || !strings.HasPrefix(req.Key.Name, sourcePrefix) {
		return request.Result{}, err
	}
	value, _, _ := unstructured.NestedString(source.Object, "data", "value")
	target, err := c.api.View().Get(ctx, deploy.Ref{Kind: secrets, Namespace: req.Key.Namespace, Name: req.Key.Name})
	if err != nil || target != nil && valueOf(target) == value {
		return request.Result{RequeueAfter: again}, err
	}
	term, leads := leader.TermOf(ctx)
	if !leads {
		return request.Result{}, errors.New("a reconcile without a term")
	}
	_, err = c.api.Port().Apply(ctx, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret",
		"metadata": map[string]any{"name": req.Key.Name, "namespace": req.Key.Namespace, "annotations": map[string]any{
			"holder": term.Holder, "term": strconv.FormatInt(term.Number, 10),
		}},
		"data": map[string]any{"value": base64.StdEncoding.EncodeToString([]byte(value))},
	}}, deploy.ApplyOptions{FieldManager: "operator", Force: true})
	return request.Result{RequeueAfter: again}, err
}

// valueOf is what was brought into a Secret.
func valueOf(secret *unstructured.Unstructured) string {
	encoded, _, _ := unstructured.NestedString(secret.Object, "data", "value")
	value, _ := base64.StdEncoding.DecodeString(encoded)
	return string(value)
}
