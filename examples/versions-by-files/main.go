// Command versions-by-files is an operator whose resources name the release of their templates. It is one program, with
// a git repository that has the files of all releases.
package main

import (
	"context"

	"github.com/operkit/operkit/operator/full"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/templates"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// releases are the templates in the folder deploy of each release.
var releases = templates.OfVersions("deploy")

// Kiosk controls resources of the kind Kiosk.
type Kiosk struct{}

// Kind implements reconcile.Controller.
func (Kiosk) Kind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "examples.operkit.dev", Version: "v1", Kind: "Kiosk"}
}

// Setup implements reconcile.Controller: the components are the same in all releases, what they consist of isn't.
func (Kiosk) Setup(_ context.Context, s *reconcile.Session) error {
	release, err := releases.For(s)
	if err != nil {
		return err
	}
	goods := s.Use("goods", release.Component("goods"))
	s.Use("counter", release.Component("counter")).After(goods, reconcile.Ready)
	return nil
}

func main() {
	op := full.New("kiosk-operator")
	op.Control(Kiosk{})
	op.Main()
}
