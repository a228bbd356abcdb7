package tlsfiles_test

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"time"

	"github.com/operkit/operkit/reconcile/tlsfiles"
)

// now is within the life of the certificate in testdata.
func now() time.Time { return time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC) }

// A program serves and dials with a mounted Secret, and requires certificates from its clients.
func ExampleLoad() {
	source, err := tlsfiles.Load(tlsfiles.Secret("testdata"), tlsfiles.VerifyClients(), tlsfiles.Clock(now))
	if err != nil {
		fmt.Println(err)
		return
	}
	server := &http.Server{Addr: ":8443", TLSConfig: source.Server(), ReadHeaderTimeout: 10 * time.Second}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: source.Client("web.shop.svc")}}
	fmt.Println(server.TLSConfig.ClientAuth == tls.RequireAndVerifyClientCert, client.Transport != nil)
	fmt.Println(source.Check(), source.Expires().Format(time.DateOnly), len(source.Digest()))
	// Output:
	// true true
	// <nil> 2120-01-01 32
}

// A webhook serves the certificate that OLM mounts, and starts before it is there.
func ExampleLate() {
	source, err := tlsfiles.Load(tlsfiles.OLM(), tlsfiles.Late(), tlsfiles.Logger(slog.New(slog.DiscardHandler)))
	fmt.Println(err)
	fmt.Println(source.Check())
	// Output:
	// <nil>
	// certificate: open /apiserver.local.config/certificates/apiserver.crt: no such file or directory
}

// gRPC needs HTTP/2.
func ExampleProtocols() {
	source, err := tlsfiles.Load(tlsfiles.Pair("testdata"), tlsfiles.Protocols("h2"), tlsfiles.Clock(now))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(source.Server().NextProtos)
	// Output:
	// [h2]
}

// kubebuilder's directory of certificates, to which OLM mounts one, too.
func ExamplePair() {
	fmt.Println(filepath.Dir(tlsfiles.Pair(tlsfiles.ServingCerts).Key))
	// Output:
	// /tmp/k8s-webhook-server/serving-certs
}
