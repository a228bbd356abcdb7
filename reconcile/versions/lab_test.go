package versions_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/event"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/source"
	"github.com/operkit/operkit/reconcile/versions/child"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	labs    = schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Lab"}
	secrets = schema.GroupVersionKind{Version: "v1", Kind: "Secret"}
	nodes   = schema.GroupVersionKind{Version: "v1", Kind: "Node"}
)

func init() {
	programs["lab"] = func(ctx context.Context, version string) error {
		return child.Serve(ctx, version, []reconcile.Controller{Lab{version}})
	}
}

// Lab is a controller for experiments: what its resource does, and in which of its methods, is in its spec.
type Lab struct{ version string }

func lab(name string, spec map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.dev/v1", "kind": "Lab", "metadata": map[string]any{"name": name}, "spec": spec,
	}}
}

// does is what is to be done in a method, if anything.
func does(s *reconcile.Session, method string) string {
	spec, _ := s.Resource().Object["spec"].(map[string]any)
	text, _ := spec[method].(string)
	return text
}

func (Lab) Kind() schema.GroupVersionKind { return labs }

func (l Lab) Setup(ctx context.Context, s *reconcile.Session) error {
	if err := l.experiment(ctx, s, does(s, "setup")); err != nil {
		return err
	}
	s.Add("note", configMap(s.ScopedName("note"), map[string]any{"version": l.version}))
	s.Use("built", builtLab{l})
	if gate := does(s, "gate"); gate != "" {
		after := s.Add("after", configMap(s.ScopedName("after"), nil))
		after.After(s.Component("note"), func(ctx context.Context, _ *reconcile.Component) (bool, error) {
			return true, l.experiment(ctx, s, gate)
		})
	}
	return nil
}

// builtLab is a component that is made when its turn has come.
type builtLab struct{ Lab }

func (b builtLab) Build(ctx context.Context, s *reconcile.Session, c *reconcile.Component) error {
	if err := b.experiment(ctx, s, does(s, "build")); err != nil {
		return err
	}
	var options []reconcile.ObjectOption
	if judge := does(s, "judge"); judge != "" {
		options = append(options, reconcile.ReadyWhen(func(ctx context.Context, _ *unstructured.Unstructured) error {
			return b.experiment(ctx, s, judge)
		}))
	}
	if too := does(s, "judge too"); too != "" {
		options = append(options, reconcile.AndReadyWhen(func(ctx context.Context, _ *unstructured.Unstructured) error {
			return b.experiment(ctx, s, too)
		}))
	}
	c.Add("", configMap(s.ScopedName("built"), nil), options...)
	return nil
}

// experiment does something.
func (l Lab) experiment(ctx context.Context, s *reconcile.Session, what string) error {
	note := deploy.Ref{Kind: configMaps, Namespace: s.Namespace(), Name: "foreign"}
	switch what {
	case "":
		return nil
	case "die":
		fmt.Fprintln(os.Stderr, "the lab burns")
		os.Exit(3)
	case "die once": // in its folder it is noted that it has been done
		if err := os.WriteFile("died-"+s.Name(), nil, 0o600); err != nil {
			return err
		}
		os.Exit(3)
	case "wait":
		for bell := (deploy.Ref{Kind: configMaps, Namespace: s.Namespace(), Name: "bell"}); ; {
			rung, err := s.Get(ctx, bell)
			if rung != nil || err != nil {
				return err
			}
			select {
			case <-ctx.Done():
				return context.Cause(ctx)
			case <-time.After(5 * time.Millisecond):
			}
		}
	case "ignore the end": // in its folder it is noted that it has begun
		if err := os.WriteFile("deaf", nil, 0o600); err != nil {
			return err
		}
		time.Sleep(time.Hour)
	case "panic":
		panic("the lab explodes")
	case "fail":
		return errors.New("it doesn't work")
	case "wait for a precondition":
		return request.RetryAfter(7*time.Minute, request.Precondition("no electricity"))
	case "set the status":
		s.SetStatus("lab.colour", "red")
		s.SetStatus("lab.rooms", []struct {
			Size int `json:"size"`
		}{{3}})
	case "set the status wrongly":
		s.SetStatus("conditions", nil)
	case "set the status to what is no value":
		s.SetStatus("lab.door", func() {})
	case "blame the resource":
		return request.Configuration("spec.size: 3 is odd")
	case "pass":
		return request.Passing(errors.New("it passes"))
	case "apply":
		_, err := s.Manager().Apply(ctx, []*unstructured.Unstructured{configMap("mine", nil)})
		return err
	case "generate":
		value, err := s.Generated(ctx, "seed", "value", func() (string, error) { return "of " + l.version, nil })
		s.Add("seed", map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "seed"}, "stringData": map[string]any{"value": value}})
		return err
	case "patch":
		_, err := s.Manager().Port().Patch(ctx, note, deploy.PatchRequest{})
		return err
	case "create":
		_, err := s.Manager().Port().Create(ctx, configMap("mine", nil), deploy.CreateOptions{})
		return err
	case "update":
		_, err := s.Manager().Port().Update(ctx, configMap("mine", nil), deploy.UpdateOptions{})
		return err
	case "subscribe":
		_, err := s.Manager().View().Subscribe(ctx, configMaps, func(deploy.Event) {})
		return err
	case "delete what is foreign":
		return s.Manager().Port().Delete(ctx, note, deploy.DeleteOptions{})
	case "delete what was another":
		return s.Manager().Port().Delete(ctx, deploy.Ref{Kind: configMaps, Namespace: s.Namespace(), Name: s.ScopedName("note")}, deploy.DeleteOptions{UID: "of another one"})
	case "delete what isn't there":
		return s.Manager().Port().Delete(ctx, deploy.Ref{Kind: configMaps, Namespace: s.Namespace(), Name: "nobody"}, deploy.DeleteOptions{})
	case "delete its own":
		_, err := s.Manager().Delete(ctx, []*unstructured.Unstructured{configMap(s.ScopedName("note"), nil)})
		return err
	case "read from the background":
		_, err := s.Get(context.Background(), note)
		return err
	case "read all":
		return l.readAll(ctx, s)
	case "watch":
		return errors.Join(
			s.Own(ctx, secrets), s.Follow(ctx, deploy.Ref{Kind: secrets, Namespace: s.Namespace(), Name: "key"}),
			s.FollowAll(ctx, configMaps, s.Namespace(), labels.SelectorFromSet(labels.Set{"colour": "red"})),
			s.FollowAll(ctx, secrets, "", nil),
		)
	case "say":
		logger := s.Logger().With("room", "cellar").WithGroup("heat").With("degrees", 21)
		logger.Info("hello", "dry", true, slog.Group("", slog.String("inline", "x")))
		logger.Debug("whisper")
		reconcile.LoggerOf(ctx).Warn("careful", reconcile.Channel, "safety")
		reconcile.LoggerOf(ctx).With(reconcile.Channel, "safety").Debug("quietly careful")
		s.Event(event.Warning, "Heard", "a noise in %s", l.version)
		fmt.Println("this is printed")
		_, _ = earlyStdout.WriteString("this is printed to what was the standard output before\n")
		fmt.Fprintln(os.Stderr, "this is an error")
	default:
		return fmt.Errorf("there is no experiment %q", what)
	}
	return nil
}

// earlyStdout is what some loggers keep from the start.
var earlyStdout = os.Stdout

// readAll reads in all the ways that there are, and says what it has found.
func (l Lab) readAll(ctx context.Context, s *reconcile.Session) error {
	view, port := s.Manager().View(), s.Manager().Port()
	key := deploy.Ref{Kind: secrets, Namespace: s.Namespace(), Name: "key"}
	stored, err := view.Get(ctx, key)
	live, err2 := port.Get(ctx, key)
	list, err3 := view.List(ctx, secrets, s.Namespace(), nil)
	all, err4 := port.List(ctx, secrets, "", deploy.ListOptions{})
	scope, err5 := port.Scope(ctx, secrets)
	kinds, err6 := port.Kinds(ctx, "Secret")
	nothing, err8 := port.Get(ctx, deploy.Ref{Kind: secrets, Namespace: s.Namespace(), Name: "nothing"})
	none, err7 := view.Get(ctx, deploy.Ref{Kind: secrets, Namespace: s.Namespace(), Name: "nothing"})
	s.Event(event.Normal, "Read", "%v %v %d %d %s %d %v %v", stored.GetName(), live.GetName(), len(list), len(all), scope, len(kinds), nothing == nil, none == nil)
	return errors.Join(err, err2, err3, err4, err5, err6, err7, err8)
}

func (l Lab) hook(ctx context.Context, s *reconcile.Session, name string, o reconcile.Outcome) error {
	if does(s, "hooks") != "" {
		s.Event(event.Normal, name, "%d components, complete: %v, error: %v", len(o.Components), o.Complete(), o.Err())
	}
	return l.experiment(ctx, s, does(s, name))
}

func (l Lab) AfterDeploy(ctx context.Context, s *reconcile.Session, o reconcile.Outcome) error {
	return l.hook(ctx, s, "AfterDeploy", o)
}

func (l Lab) AfterVerify(ctx context.Context, s *reconcile.Session, o reconcile.Outcome) error {
	return l.hook(ctx, s, "AfterVerify", o)
}

func (l Lab) AfterIncomplete(ctx context.Context, s *reconcile.Session, o reconcile.Outcome) error {
	return l.hook(ctx, s, fmt.Sprintf("AfterIncomplete-%v-%v", o.Deployed(), o.Err() != nil), o)
}

func (l Lab) Exhausted(ctx context.Context, s *reconcile.Session, err error) error {
	if does(s, "hooks") != "" {
		s.Event(event.Normal, "Exhausted", "%v", err)
	}
	return l.experiment(ctx, s, does(s, "Exhausted"))
}

func (l Lab) Requeue(ctx context.Context, s *reconcile.Session, o reconcile.Outcome) (time.Duration, error) {
	if does(s, "hooks") == "" {
		return 0, nil
	}
	return 42 * time.Second, l.hook(ctx, s, "Requeue", o)
}

func (l Lab) Finalize(ctx context.Context, s *reconcile.Session) error {
	if err := l.experiment(ctx, s, does(s, "finalize")); err != nil || does(s, "farewell") == "" {
		return err
	}
	card := s.Add("card", configMap(s.ScopedName("card"), map[string]any{"of": l.version}))
	s.Use("built", builtLab{l}).After(card, reconcile.Ready, func(ctx context.Context, _ *reconcile.Component) (bool, error) {
		return true, l.experiment(ctx, s, does(s, "gate"))
	})
	switch does(s, "farewell") {
	case "twice":
		s.Add("card")
	case "deploys":
		s.Use("own", deployer{})
	case "without the old ones":
		s.Add("closed", configMap(s.ScopedName("closed"), nil)).Disable()
		return s.Add("note", configMap(s.ScopedName("note"), nil)).Remove(ctx)
	}
	return nil
}

// Sources implements source.Provider: version 2.0.0 looks at more than 1.0.0.
func (l Lab) Sources() source.Sources {
	marked := func(of string) func(e deploy.Event) bool {
		return func(e deploy.Event) bool {
			switch e.New.GetLabels()["does"] {
			case "die":
				os.Exit(3)
			case "sleep":
				time.Sleep(time.Hour)
			case "panic":
				panic("a predicate panics")
			}
			return e.New.GetLabels()[of] == l.version
		}
	}
	named := func(e deploy.Event) []deploy.Ref {
		if !marked("dies-by")(e) && e.New.GetLabels()["lab"] == "" {
			return nil
		}
		return []deploy.Ref{{Namespace: "test", Name: e.New.GetLabels()["lab"] + "-" + l.version}}
	}
	s := source.Sources{When: marked("counts"), Owned: []source.Owned{{Kind: configMaps, When: marked("counts")}}}
	s.Mapped = []source.Mapped{{Kind: secrets, Keys: named}}
	if l.version >= "2" {
		s.Owned = append(s.Owned, source.Owned{Kind: deployments})
		s.Mapped = append(s.Mapped, source.Mapped{Kind: secrets, When: marked("counts"), Keys: named}, source.Mapped{Kind: nodes, Keys: named})
		s.External = []source.External{source.Func(l.external)}
	}
	return s
}

// external brings one key when it begins, and one for each resource that is known.
func (l Lab) external(ctx context.Context, target source.Target) {
	target.Bring(deploy.Ref{Namespace: "test", Name: fmt.Sprintf("begun-%s", l.version)})
	for _, key := range target.Keys() {
		key.Name = "known-" + key.Name
		target.Bring(key)
	}
	target.Failed(errors.New("the line is noisy"))
	if _, err := os.Stat("panic"); err == nil {
		_ = os.Remove("panic")
		panic("the source panics")
	}
	<-ctx.Done()
}
