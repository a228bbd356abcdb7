package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/operkit/operkit/deploy"
	v1 "github.com/operkit/operkit/examples/guestbook/api/v1"
	"github.com/operkit/operkit/tools/envtest/audit"
	"github.com/operkit/operkit/tools/envtest/devcluster"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// watchPoll is the interval at which the audit log is searched for the operator's first watch.
const watchPoll = 10 * time.Millisecond

// startPlane starts the control plane and connects to it as its administrator.
func (d *demo) startPlane(ctx context.Context) (err error) {
	if d.source, err = sourceFolder(ctx); err != nil {
		return err
	}
	if d.sample, err = manifest(filepath.Join(d.source, "config", "sample.yaml"), v1.GuestbookKind.Kind); err != nil {
		return err
	}
	d.board = newBoard(deploy.RefOf(d.sample))
	program, err := devcluster.Binary(ctx, d.progress)
	if err != nil {
		return err
	}
	d.narrator.note(plain, "program", program)
	d.narrator.note(plain, "cluster", "starting")
	crds := filepath.Join(d.source, "config", "crd")
	if d.options.keep {
		d.plane, err = detachedPlane(ctx, program, crds, d.path("cluster"))
	} else {
		d.plane, err = attachedPlane(ctx, program, crds)
	}
	if err != nil {
		return err
	}
	what, err := d.plane.describe()
	if err != nil {
		return err
	}
	d.narrator.note(green, "cluster", "ready: "+what)
	if d.api, err = connect(ctx, d.plane.cluster.Kubeconfig(), d.board.ref.Namespace); err != nil {
		return err
	}
	return d.api.follow(ctx, d.feed, append(childKinds, v1.GuestbookKind)...)
}

// startOperator builds the operator and runs it as a user that has only the rights that it is shipped with.
func (d *demo) startOperator(ctx context.Context) error {
	d.narrator.note(plain, "operator", "building "+operatorPackage)
	if err := build(ctx, d.source, d.path("operator")); err != nil {
		return fmt.Errorf("build of the operator: %w", err)
	}
	d.narrator.note(plain, "operator", "built")
	if err := d.grant(ctx); err != nil {
		return fmt.Errorf("rights of the operator: %w", err)
	}
	d.narrator.note(plain, "cluster", "user "+operatorUser+" has the rights of config/rbac/role.yaml, no others")
	d.meter = &meter{
		log: audit.Log{Path: d.plane.auditLog()}, user: operatorUser,
		port: d.api.manager.Port(), namespace: d.board.ref.Namespace,
	}
	if err := d.meter.start(ctx); err != nil {
		return err
	}
	began := time.Now()
	operator, err := startOperator(ctx, d.path("operator"), d.path("operator.kubeconfig"), d.path("operator.log"))
	if err != nil {
		return err
	}
	d.operator = operator
	d.narrator.note(plain, "operator", fmt.Sprintf("started, process %d", operator.process.Pid))
	if err := d.awaitWatch(ctx); err != nil {
		return err
	}
	d.narrator.note(green, "operator", fmt.Sprintf("watches Guestbooks, %.2f s after its start", time.Since(began).Seconds()))
	return nil
}

// grant gives the operator's user its rights and a kubeconfig, and returns when the rights are in effect.
func (d *demo) grant(ctx context.Context) error {
	role, err := manifest(filepath.Join(d.source, "config", "rbac", "role.yaml"), "ClusterRole")
	if err != nil {
		return err
	}
	if _, err := d.api.manager.Apply(ctx, []*unstructured.Unstructured{role, boundTo(operatorUser, role)}); err != nil {
		return err
	}
	kubeconfig := d.path("operator.kubeconfig")
	if err := d.plane.kubeconfigFor(ctx, operatorUser, kubeconfig); err != nil {
		return err
	}
	asOperator, err := connect(ctx, kubeconfig, d.board.ref.Namespace)
	if err != nil {
		return err
	}
	defer asOperator.close()
	return asOperator.awaitRights(ctx, v1.GuestbookKind, d.board.ref.Namespace)
}

// awaitWatch returns when the API server serves the operator's watch of Guestbooks.
func (d *demo) awaitWatch(ctx context.Context) error {
	for {
		end, err := d.meter.log.End()
		if err != nil {
			return err
		}
		calls, err := d.meter.calls(d.meter.from, end)
		if err != nil {
			return err
		}
		if len(calls.Watches().Of("guestbooks."+v1.GuestbookKind.Group)) > 0 {
			return nil
		}
		select {
		case <-time.After(watchPoll):
		case <-d.operator.ended:
			return d.operator.alive()
		case <-ctx.Done():
			return fmt.Errorf("waited until the operator watches Guestbooks: %w", context.Cause(ctx))
		}
	}
}

func (d *demo) stopOperator(ctx context.Context) error {
	if err := d.operator.alive(); err != nil {
		return err
	}
	if err := d.operator.stop(ctx); err != nil {
		return err
	}
	d.narrator.note(green, "operator", "ended on SIGTERM with exit status 0")
	return nil
}

func (d *demo) stopPlane(ctx context.Context) error {
	d.meter = nil
	d.narrator.show(nil)
	d.api.close()
	d.api = nil
	plane := d.plane
	d.plane = nil
	if err := plane.stop(ctx); err != nil {
		return err
	}
	d.narrator.note(green, "cluster", "stopped")
	return nil
}

// close stops everything that still runs. If kept is true, the cluster and the folder stay.
func (d *demo) close(ctx context.Context, kept bool) error {
	var errs []error
	if d.operator != nil && d.operator.alive() == nil {
		errs = append(errs, d.operator.stop(ctx))
	}
	if d.api != nil {
		d.api.close()
	}
	if kept {
		return errors.Join(errs...)
	}
	if d.plane != nil {
		errs = append(errs, d.plane.stop(ctx))
	}
	return errors.Join(append(errs, os.RemoveAll(d.work))...)
}

// path returns the path of a file or folder of this run.
func (d *demo) path(name string) string { return filepath.Join(d.work, name) }
