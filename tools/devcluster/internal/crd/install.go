package crd

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"time"

	"github.com/operkit/operkit/tools/devcluster/internal/api"
)

const (
	collection   = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	pollInterval = 5 * time.Millisecond
)

// Install creates the definitions and waits until each is Established. It tries all of them; each error names the file.
func Install(ctx context.Context, client *api.Client, definitions []Definition) error {
	errs := make([]error, len(definitions))
	var wait sync.WaitGroup
	for i, d := range definitions {
		wait.Go(func() {
			if err := install(ctx, client, d); err != nil {
				errs[i] = fmt.Errorf("CRD %s of %s: %w", d.Name, d.Source, err)
			}
		})
	}
	wait.Wait()
	return errors.Join(errs...)
}

func install(ctx context.Context, client *api.Client, d Definition) error {
	if err := client.Create(ctx, collection, d.Object, nil); err != nil {
		return err
	}
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		established, err := established(ctx, client, d.Name)
		if err != nil || established {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("not Established: %w", context.Cause(ctx))
		case <-ticker.C:
		}
	}
}

// established reports whether the definition is Established. It returns an error if it never will be, because its names
// are taken.
func established(ctx context.Context, client *api.Client, name string) (bool, error) {
	var object struct {
		Status struct {
			Conditions []struct {
				Type, Status, Reason, Message string
			} `json:"conditions"`
		} `json:"status"`
	}
	if err := client.Get(ctx, collection+"/"+url.PathEscape(name), &object); err != nil {
		return false, err
	}
	for _, c := range object.Status.Conditions {
		switch {
		case c.Type == "Established" && c.Status == "True":
			return true, nil
		case c.Type == "NamesAccepted" && c.Status == "False":
			return false, fmt.Errorf("names not accepted: %s: %s", c.Reason, c.Message)
		}
	}
	return false, nil
}
