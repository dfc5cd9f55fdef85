/** Style sheets, which the bundler takes and no script reads. */
declare module "*.css";
