package vcs_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/operkit/operkit/vcs"
)

// A checkout of a repository of somebody else is limited, and nobody changes its files.
func ExampleCheckoutOption() {
	repository, source, remove := openShop()
	defer remove()
	destination := source + "-version"
	defer func() { _ = os.RemoveAll(destination) }()
	careful := []vcs.CheckoutOption{
		vcs.Within(vcs.Limits{Files: 10_000, Bytes: 1 << 30, Depth: 32}),
		vcs.ReadOnly(), vcs.Durable(), vcs.NoWait(),
	}
	checkout, err := repository.Checkout(context.Background(), "1.0.0", destination, vcs.Clone, careful...)
	fmt.Println(checkout.Reused, len(checkout.Warnings), err)
	// A version that relies on what isn't in the repository may have it left out, or kept.
	checkout, err = repository.Checkout(context.Background(), "1.0.0", destination, vcs.Clone, vcs.WithoutSubmodules(), vcs.OutsideLinks())
	fmt.Println(checkout.Reused, err)
	// Output:
	// false 0 <nil>
	// true <nil>
}

func ExampleRepository_Path() {
	repository, source, remove := openShop()
	defer remove()
	fmt.Println(repository.Path() == source)
	// Output: true
}

func ExampleConfigError() {
	_, err := vcs.Open("/srv/nowhere")
	var wrong *vcs.ConfigError
	fmt.Println(errors.As(err, &wrong), wrong.Op, wrong.Subject)
	// Output: true open /srv/nowhere
}

// Who meets somebody else at work on a folder comes back later; what failed otherwise is worth another try only once it is mended.
func ExampleContentionError() {
	again := func(err error) (time.Duration, bool) {
		var busy *vcs.ContentionError
		if errors.As(err, &busy) {
			return busy.RetryAfter, true
		}
		var broken *vcs.RuntimeError
		if errors.As(err, &broken) {
			return time.Hour, true
		}
		return 0, false // a *vcs.ConfigError: it stays wrong
	}
	fmt.Println(again(&vcs.ContentionError{Path: "/var/cache/versions/1.0.0", RetryAfter: 5 * time.Second, Err: context.DeadlineExceeded}))
	fmt.Println(again(&vcs.RuntimeError{Op: "checkout", Subject: "/var/cache/versions/1.0.0", Err: errors.New("the disk is full")}))
	fmt.Println(again(&vcs.ConfigError{Op: "checkout", Subject: "9.9.9", Err: errors.New("there is no such version")}))
	// Output:
	// 5s true
	// 1h0m0s true
	// 0s false
}

// Tags stay tags where the program that reads the versions asks for tags.
func ExampleTagsAs() {
	source, remove := shop()
	defer remove()
	for _, as := range []vcs.TagsAs{vcs.AsBranches, vcs.AsTags} {
		destination := filepath.Join(source+"-versions", string(as))
		defer func() { _ = os.RemoveAll(filepath.Dir(destination)) }()
		report, err := vcs.Setup(context.Background(), vcs.SetupOptions{Source: source, Destination: destination, TagsAs: as})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(report.Kept[0].Full)
	}
	// Output:
	// refs/heads/1.0.0
	// refs/tags/1.0.0
}

func ExampleTemplate_Base() {
	template, err := vcs.ParseTemplate("/var/cache/versions/{version}/{kind}")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(template.Base())
	// Output: /var/cache/versions
}
