package boot

import (
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// quotes are the quotation marks that an env file, a form or a chat program may leave around a value.
const quotes = "\"'`“”„‘’«»"

// ValueFault returns what is wrong with the text of a setting or of one element, by the rules of all settings; "" means
// nothing. It never repeats the text, which may be a secret.
func ValueFault(text string) string {
	first, _ := utf8.DecodeRuneInString(text)
	last, _ := utf8.DecodeLastRuneInString(text)
	switch {
	case text == "":
		return "is set, but empty: give it a value, or unset it"
	case strings.TrimSpace(text) == "":
		return "holds nothing but white space: give it a value, or unset it"
	case !utf8.ValidString(text):
		return "is not valid UTF-8"
	case last == '\r':
		return "ends in a carriage return: the file that sets it has the line ends of Windows"
	case unicode.IsSpace(first) || unicode.IsSpace(last):
		return "begins or ends with white space"
	case strings.ContainsRune(quotes, first) || strings.ContainsRune(quotes, last):
		return "begins or ends with a quotation mark, which is taken as a part of the value: write it without quotes"
	}
	if at := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsGraphic(r) }); at >= 0 {
		return fmt.Sprintf("holds a character that cannot be seen, at byte %d", at)
	}
	return ""
}

// valueFaults checks the text of each setting in the environment by the rules of all settings, and removes settings with a
// fault. It checks the elements of lists one by one.
func valueFaults(environment map[string]string) (faults []error) {
	for f := range reflect.TypeFor[Settings]().Fields() {
		name := f.Tag.Get("env")
		text, set := environment[name]
		if !set {
			continue
		}
		fault := ValueFault(text)
		if strings.Contains(text, ",") && f.Type.Kind() == reflect.Slice {
			fault = elementFault(text)
		}
		if fault != "" {
			delete(environment, name)
			faults = append(faults, fmt.Errorf("%s: %s", name, fault))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(environment)) {
		if !strings.HasPrefix(name, deployPrefix) {
			continue
		}
		if fault := ValueFault(environment[name]); fault != "" {
			faults = append(faults, fmt.Errorf("%s: %s", name, fault))
		}
	}
	return faults
}

// deployPrefix begins the additional settings of the migrate programs.
const deployPrefix = "BELFRY_DEPLOY_"

// elementFault returns the first fault of an element of a list with commas.
func elementFault(list string) string {
	elements := strings.Split(list, ",")
	for i, element := range elements {
		switch fault := ValueFault(element); {
		case element == "":
			return fmt.Sprintf("element %d of %d is empty", i+1, len(elements))
		case fault != "":
			return fmt.Sprintf("element %d of %d %s", i+1, len(elements), fault)
		}
	}
	return ""
}

// Variable reads a variable that is no setting of a server, such as the command line's BELFRY_URL, by the rules of all
// settings. Text "" means that it is not set.
func Variable(lookup func(string) (string, bool), name string) (text string, err error) {
	text, set := lookup(name)
	if !set {
		return "", nil
	}
	if fault := ValueFault(text); fault != "" {
		return "", fmt.Errorf("%s: %s", name, fault)
	}
	return text, nil
}

// environment returns the environment of this process, with the program's defaults for settings that are not set.
func environment(defaults map[string]string) (all map[string]string, faults []error) {
	all = map[string]string{}
	for _, variable := range os.Environ() {
		if name, value, ok := strings.Cut(variable, "="); ok {
			all[name] = value
		}
	}
	faults = valueFaults(all)
	for name, value := range defaults {
		if _, set := all[name]; !set {
			all[name] = value
		}
	}
	return all, slices.Clip(faults)
}
