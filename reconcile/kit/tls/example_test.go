package tls_test

import (
	"context"
	"fmt"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/kit/tls"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/request"
)

// Two components speak mutual TLS: each has a Secret with its certificate, its key and the CAs that it trusts.
func ExampleOwn() {
	controller := reconciletest.Controlling(shopKind, func(_ context.Context, s *reconcile.Session) error {
		web, worker := s.Add("web"), s.Add("worker")
		ca := tls.Own(s)
		server := ca.Certificate(web, tls.Service("web", s.Namespace())...)
		client := ca.Certificate(worker)
		fmt.Println(server.Secret(), client.Secret())
		return nil
	})
	fmt.Println(reconcileTea(controller))
	// Output:
	// tea-web-tls tea-worker-tls
	// <nil>
}

// A component has two certificates, one of them for metrics. Another component only trusts the CA, and one is
// deployed after the certificates without reading them. Pods restart when a certificate changes.
func ExampleAuthority_Named() {
	controller := reconciletest.Controlling(shopKind, func(_ context.Context, s *reconcile.Session) error {
		ca := tls.Own(s, tls.Life(90*day), tls.CALife(5*365*day), tls.Wait(30*time.Minute))
		settings := &reader{}
		web := s.Use("web", settings)
		settings.cert = serving(ca, web)
		metrics := ca.Named(web, "metrics", tls.Service("metrics", s.Namespace())...)
		fmt.Println(settings.cert.Secret(), metrics.Secret(), ca.Bundle(s.Add("probe")))
		s.Add("report").After(ca.Component())
		return nil
	})
	fmt.Println(reconcileTea(controller))
	// Output:
	// tea-web-tls tea-metrics-tls tea-tls-bundle
	// <nil>
}

// serving asks any source for a certificate.
func serving(source tls.Source, web *reconcile.Component) *tls.Certificate {
	return source.Certificate(web, "shop.example.com", "10.0.0.1")
}

// cert-manager issues the certificates: nothing else changes. Each component waits until its certificate is issued.
func ExampleCertManager() {
	controller := reconciletest.Controlling(shopKind, func(_ context.Context, s *reconcile.Session) error {
		web, worker := s.Add("web"), s.Add("worker")
		ca := tls.CertManager(s)
		server := ca.Certificate(web, tls.Service("web", s.Namespace())...)
		client := ca.Certificate(worker)
		fmt.Println(server.Secret(), client.Secret(), ca.Bundle())
		return nil
	})
	fmt.Println(reconcileTea(controller))
	// Output:
	// tea-web-cert tea-worker-cert tea-cert-bundle
	// <nil>
}

// An issuer of the cluster issues the certificates, and trust-manager distributes the CAs to trust.
func ExampleTrustBundle() {
	controller := reconciletest.Controlling(shopKind, func(_ context.Context, s *reconcile.Session) error {
		ca := tls.CertManager(s, tls.Issuer("ClusterIssuer", "corp"), tls.TrustBundle("corp-cas"), tls.Life(90*day))
		web := s.Add("web")
		server := serving(ca, web)
		metrics := ca.Named(web, "metrics", tls.Service("metrics", s.Namespace())...)
		fmt.Println(server.Secret(), metrics.Secret(), ca.Bundle(s.Add("probe")))
		s.Add("report").After(ca.Component())
		return nil
	})
	fmt.Println(reconcileTea(controller))
	// Output:
	// tea-web-cert tea-metrics-cert corp-cas
	// <nil>
}

// The names under which Pods reach a Service.
func ExampleService() {
	fmt.Println(tls.Service("web", "shop"))
	// Output:
	// [web web.shop web.shop.svc web.shop.svc.cluster.local]
}

// reconcileTea reconciles the shop in a cluster in memory.
func reconcileTea(controller reconcile.Controller) error {
	ctx := context.Background()
	cluster, err := dryrun.New(dryrun.AnyKind())
	if err != nil {
		return err
	}
	defer cluster.Wait()
	manager, err := deploy.NewManager(cluster)
	if err != nil {
		return err
	}
	reconciler, err := reconcile.New(controller, manager)
	if err != nil {
		return err
	}
	tea := newTea(nil)
	tea.SetNamespace("shop")
	if _, err := cluster.Port().Create(ctx, tea, deploy.CreateOptions{}); err != nil {
		return err
	}
	_, err = reconciler.Reconcile(ctx, request.Request{Key: deploy.RefOf(tea)})
	return err
}
