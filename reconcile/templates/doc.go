// Package templates renders components from folders of YAML templates.
//
//	//go:embed deploy
//	var files embed.FS
//
//	var deploy, err = templates.Parse(files, "deploy")
//
//	func (Shop) Setup(_ context.Context, s *reconcile.Session) error {
//		if err != nil {
//			return err
//		}
//		store := s.Use("store", deploy.Component("store"))
//		s.Use("web", deploy.Component("web")).After(store, reconcile.Ready)
//		return nil
//	}
//
// Templates are written as for text/template, with the functions that Helm's charts use.
//
// # Folders
//
//	deploy/
//	  helpers.tpl            {{ define }}s for all templates; the rest of the file isn't used
//	  store/                 the component "store"
//	    statefulset.yaml
//	    service.yaml
//	    redis.conf           data: {{ file "redis.conf" }}
//	  web/
//	    deployment.yaml
//	    files/               all files are data, even if they end in .yaml
//
// A folder with files that end in .yaml or .yml is a component; its name is its path below the folder given to Parse.
// That folder itself is the component ".". A folder inside it is another component. The files are rendered in the order
// of their names, and may hold several documents. Empty documents are ignored, and a List stands for its items. Files
// and folders whose names begin with a dot are ignored; go:embed also leaves out names that begin with an underscore,
// unless it says "all:deploy".
//
// # Values
//
//	.Name .Namespace .APIVersion .Kind    of the custom resource
//	.Metadata         its metadata, without resourceVersion and managedFields, which change with each write
//	.Spec             its spec, with the controller's defaults under it
//	.Config           Session.Config
//	.Version          Session.Version
//	.Values           the author's own, see Values and ValuesFrom
//
// All values have the form of JSON; numbers without a fraction are integers. A missing value is an error, not "<no
// value>"; values that may be missing need a default of the controller, or {{ dig "size" 3 .Spec }}. Changes that a
// template makes by set or merge affect only that template.
//
// # Functions
//
// Templates can call the functions of text/template, the functions of github.com/Masterminds/sprig whose results depend
// only on their arguments, and these:
//
//	scopedName "web"              Session.ScopedName
//	include "labels" .            the text that a define renders, for a pipeline
//	required "set a size" .x      .x, or an error of the resource's author when .x is nil or ""
//	fail "not both"               an error of the resource's author
//	toYaml fromYaml               without a newline at the end; fromYaml returns errors
//	fromJson                      integers stay integers; returns errors
//	file "redis.conf"             the content of a file of the component's folder
//	keys values                   as in sprig, but in a fixed order
//
// A rendering must be the same each time, otherwise an operator would apply it again and again. So functions that
// depend on the environment, the network, a clock, a time zone, the operating system's paths or random numbers are left
// out: env, expandenv, getHostByName, now, date and its kin, rand*, shuffle, uuidv4, bcrypt, htpasswd, gen*,
// encryptAES, os*. For a password use Session.Generated and Values. There is no tpl, since text in a resource isn't a
// template. There is no lookup, since ValuesFrom can read the cluster.
//
// # Errors
//
// Parse finds the mistakes that don't depend on values: syntax, unknown functions, an include of an undefined template,
// two defines of one name. All others fail the component. An Error names file, line and column of the template, even
// for invalid YAML in the rendered text; if the place isn't known, it shows the line of the rendered text. Errors of
// fail and required are configuration errors of the resource, all others are errors of the operator. Errors never
// contain the content of a Secret: if a template may render a Secret, rendered text, and messages of functions that may
// quote this text, are left out.
//
// Objects without a name, fields that are given twice, and labels, annotations and data that aren't text are refused
// before anything is sent. A rendering that exceeds a limit is refused too: 16 MiB of text for a file, 100 nested
// includes, 100 000 elements of a list.
//
// # When to use it
//
// Use it where YAML exists already, or where the authors of the YAML don't write Go. Don't use it where objects depend
// on each other's content or need loops within loops: apply configurations are checked by the compiler. It isn't Helm:
// there are no charts, no hooks and no releases.
package templates
