package tlssecret_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"time"

	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/tlssecret"
)

// A server and a client that trusts its CA.
func ExampleNew() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	memory, _ := dryrun.New(dryrun.Namespaces("shop")) // with an API server: cluster.New
	config := tlssecret.Config{Namespace: "shop", Secret: "hooks-tls", Names: []string{"hooks.shop.svc"}, Life: tlssecret.Life{Leaf: 90 * 24 * time.Hour}}
	source, err := tlssecret.New(memory, config)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := source.Load(ctx); err != nil {
		fmt.Println(err)
		return
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = source.Run(ctx)
	}()

	server, client := net.Pipe()
	go func() { _ = tls.Server(server, source.Server()).Handshake() }()
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(source.CA())
	err = tls.Client(client, &tls.Config{RootCAs: trusted, ServerName: "hooks.shop.svc"}).Handshake()
	fmt.Println("handshake:", err)
	fmt.Println("days left:", int(time.Until(source.Expires()).Hours()/24+0.5))
	fmt.Println("check:", source.Check())
	cancel()
	<-ended
	// Output:
	// handshake: <nil>
	// days left: 90
	// check: <nil>
}

// The rights of a Source, for a Role. Its client sees no other Secret.
func ExampleConfig_Rights() {
	c := tlssecret.Config{Namespace: "shop", Secret: "hooks-tls"}
	for _, right := range c.Rights() {
		fmt.Println(right.Kind.Kind, right.Names, right.Verbs)
	}
	fmt.Println(c.Selector())
	// Output:
	// Secret [hooks-tls] [get list watch update]
	// Secret [] [create]
	// metadata.name=hooks-tls
}
