/**
 * Signals, and components that are drawn again when one that they read changes. This stands in for @preact/signals, which
 * binds signals to single attributes and texts besides; no view does that, and every reader would load it.
 *
 * Names of one letter and with underscores are what Preact and its signals leave for this, the same in every release of a
 * major version. All of it keeps to functions: a class with a state of its own is drawn as Preact has it.
 */
import { Effect } from "@preact/signals-core";
import { Component, options } from "preact";
/* Its own turns at a component come before ours: what they run is not followed. */
import "preact/hooks";

export { batch, computed, effect, signal, untracked } from "@preact/signals-core";

/** @typedef {Component<any> & {follows?: any, stirred?: boolean, __f?: boolean}} Drawn  its effect, whether that asks for it, and whether it has a state */

/** @type {Record<string, (...args: any[]) => void>} what Preact calls at its turns */
const turns = /** @type {any} */ (options);

/** @type {(() => void) | null} ends what is being followed */
let end = null;

/** @param {any} [component]  which is followed from now on, if any */
function follow(component) {
    end?.();
    end = component ? component.follows.S() : null;
}

/** @param {Drawn} component */
function followed(component) {
    const effect = /** @type {any} */ (new Effect(() => {}));
    effect.c = () => {
        component.stirred = true;
        component.setState({});
    };
    return effect;
}

/** @param {string} turn @param {(vnode: any) => void} own */
function before(turn, own) {
    const next = turns[turn];
    turns[turn] = (vnode, ...more) => {
        own(vnode);
        next?.(vnode, ...more);
    };
}

/* A child begins, something was thrown, a component is done. */
for (const turn of ["__b", "__e", "diffed"]) before(turn, () => follow());
before("unmount", ({ __c: component }) => component?.follows?.d());

const drawn = turns.__r;
turns.__r = (vnode) => {
    drawn(vnode);
    const component = vnode.__c;
    component.stirred = false;
    component.follows ??= followed(component);
    follow(component);
};

/** Whether one that follows signals or has a state is drawn again: for a change that it follows, or other props. @this {Drawn} @param {any} props */
Component.prototype.shouldComponentUpdate = function (props) {
    return this.stirred || !(this.__f || this.follows?.s) || Object.keys({ ...props, ...this.props }).some((name) => props[name] !== this.props[name]);
};
