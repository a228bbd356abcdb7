package cluster

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/operkit/operkit/tools/devcluster/internal/component"
)

// The test binary plays every component, chosen as the real program does by its first argument. A
// fake does as little as it takes to be believed. Beside the cluster directory, which it finds from
// its working directory in there, it appends what happens to it to the file events, and reads how it
// shall misbehave from the file behaviour.
const (
	eventsFile    = "../../events"
	behaviourFile = "../../behaviour"
	leaseFile     = "../../lease" // is there while kwok has the lease of the node
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		if n, err := component.Parse(os.Args[1]); err == nil && n.Program() == os.Args[1] {
			os.Exit(fake(n))
		}
	}
	goleak.VerifyTestMain(m)
}

// event appends a line; one write is atomic, whoever else writes.
func event(words ...string) {
	f, err := os.OpenFile(eventsFile, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		fmt.Println(err)
		os.Exit(9)
	}
	_, _ = f.WriteString(strings.Join(words, " ") + "\n")
	_ = f.Close()
}

// misbehaves reports whether the file of behaviours has that line now.
func misbehaves(line string) bool {
	raw, _ := os.ReadFile(behaviourFile)
	return strings.Contains("\n"+string(raw), "\n"+line+"\n")
}

func fake(n component.Name) int {
	if err := FollowSupervisor(); err != nil {
		fmt.Println(err)
		return 1
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM)
	event("start", string(n), strings.Join(os.Args[2:], " "))
	if misbehaves("crash " + string(n)) {
		fmt.Println("boom: this is why")
		return 3
	}
	if !misbehaves("silent " + string(n)) {
		if err := fakeServer(n); err != nil {
			fmt.Println(err)
			return 1
		}
	}
	<-signals
	event("stop", string(n))
	return 0
}

func fakeServer(n component.Name) error {
	if n == component.Kwok {
		return os.WriteFile(leaseFile, nil, 0o600)
	}
	if n == component.Etcd {
		_ = os.Remove(etcdSocket) // as the real one does
		_, err := net.Listen("unix", etcdSocket)
		return err
	}
	certificate, err := tls.LoadX509KeyPair(flagValue("tls-cert-file"), flagValue("tls-private-key-file"))
	if err != nil {
		return err
	}
	// As with --permit-port-sharing.
	config := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		return c.Control(func(fd uintptr) { _ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1) })
	}}
	listener, err := config.Listen(context.Background(), "tcp4", "127.0.0.1:"+flagValue("secure-port"))
	if err != nil {
		return err
	}
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fakeAnswer(n, w, r) })
	go func() {
		_ = http.Serve(tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{certificate}}), handler)
	}()
	return nil
}

func flagValue(name string) string {
	for _, argument := range os.Args {
		if value, ok := strings.CutPrefix(argument, "--"+name+"="); ok {
			return value
		}
	}
	return ""
}

func fakeAnswer(n component.Name, w http.ResponseWriter, r *http.Request) {
	for misbehaves("slow " + string(n)) {
		time.Sleep(time.Millisecond)
	}
	switch {
	case misbehaves("unhealthy " + string(n)):
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = w.Write([]byte("not feeling well"))
		return
	case r.URL.Path == "/readyz", r.URL.Path == "/healthz":
		return
	}
	event(r.Method, r.URL.Path)
	if misbehaves("crash over " + r.Method) {
		fmt.Println("boom: this is why")
		os.Exit(3)
	}
	_, leaseErr := os.Stat(leaseFile)
	switch {
	case r.Method == http.MethodDelete && r.URL.Path == leasePath:
		_ = os.Remove(leaseFile)
	case r.URL.Path == leasePath && leaseErr != nil:
		w.WriteHeader(http.StatusNotFound)
	case misbehaves("tainted") && strings.HasPrefix(r.URL.Path, nodePath):
		_, _ = w.Write([]byte(`{"spec": {"taints": [{"key": "not-ready"}]}}`))
	case strings.HasPrefix(r.URL.Path, nodePath+"/"):
		_, _ = w.Write([]byte(`{"status": {"conditions": [{"type": "Ready", "status": "True"}]}}`))
	default:
		_, _ = w.Write([]byte(`{"status": {"conditions": [{"type": "Established", "status": "True"}]}}`))
	}
}
